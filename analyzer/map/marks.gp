
# What a marker looks like. A record of the data is x, y, value, edge: 1, the white edge below a marker (below crosses, a
# disc). Those that later ones hide are left out. Points on a grid are spread around it, so that they do not hide one
# another.
level(v) = levels > 0 ? int(v) + 1 : 1
marker(v) = markers * (f - 1) + level(v)
size(v, edge) = edge > 0 ? EdgeSize[marker(v)] : Size[marker(v)]
shape(v, edge) = edge > 0 ? EdgeShape[level(v)] : Shape[level(v)]
colour(v, edge) = edge > 0 ? 0xffffff : fill(v)

# Its colour: by correctness from blue over dark to red; by a value from light to dark, as the palette has it, in 64 steps;
# else grey. The cells of a shift go from blue over grey, which is no difference, to orange. All can be told apart by readers who do not see red,
# green or blue as others do.
mix(t, from, to, a, b) = floor(a + (t - from) / (to - from) * (b - a) + 0.5)
along(t, a, b, c, d) = t <= 0.3 ? mix(t, 0, 0.3, a, b) : t <= 0.6 ? mix(t, 0.3, 0.6, b, c) : mix(t, 0.6, 1, c, d)
ramp(t) = 65536 * along(t, 0xc3, 0x47, 0x28, 0x17) + 256 * along(t, 0x84, 0x8a, 0x69, 0x1d) + along(t, 0x08, 0x5d, 0x8a, 0x4f)
array Ramp[64]
do for [k=1:64] { Ramp[k] = int(ramp((k - 1) / 63.0)) }
part(v) = 1.0 * (v - colour_from) / (colour_to - colour_from)
if (levels > 0) { fill(v) = Colour[level(v)] }
if (colouring eq 'value') {
	fill(v) = !(v == v) ? 0x8f949f : part(v) >= 1 ? Ramp[64] : part(v) > 0 ? Ramp[1 + int(part(v) * 64)] : Ramp[1]
}
if (colouring eq 'plain') { fill(v) = 0x8f949f }
if (style eq 'shift') {
	set palette defined (-1 '#00466e', -0.5 '#0072b2', -0.12 '#9cc9e6', 0 '#dcdcdc', 0.12 '#f4b88e', 0.5 '#d55e00', 1 '#7a3600')
} else {
	set palette defined (0 '#c38408', 0.3 '#478a5d', 0.6 '#28698a', 1 '#171d4f')
}
