
# The terminal, and the look of everything. Lengths are in units, from the bottom left of the picture, which is `width` by
# `height`. By hand, the script works in its own folder, where its data are; `picture` may be set before to draw it elsewhere.
if (!exists('data')) {
	data = own_data
	folder = exists('ARG0') ? ARG0 : ''
	while (strlen(folder) > 0 && folder[strlen(folder):] ne '/') { folder = folder[:strlen(folder) - 1] }
	if (strlen(folder) > 0) { cd folder }
}
if (!exists('picture')) { picture = own_picture }

set encoding utf8
X(x) = floor(1e5 * x / width + 0.5) / 1e5
Y(y) = floor(1e5 * y / height + 0.5) / 1e5
inches(units) = floor(units / 0.96 + 0.5) / 100.0
if (format eq 'png') {
	set terminal pngcairo size 2 * width,2 * height noenhanced font 'DejaVu Sans,11' fontscale 2 pointscale 2 linewidth 2
}
if (format eq 'svg') {
	set terminal svg size width,height dynamic noenhanced font 'DejaVu Sans,11' fontscale 1.33 background '#ffffff'
}
if (format eq 'pdf') {
	set terminal pdfcairo size inches(width) in,inches(height) in noenhanced font 'DejaVu Sans,11' \
		fontscale 0.75 pointscale 0.75 linewidth 1.2
}
if (format eq 'gif') {
	set terminal gif animate delay 80 loop 0 size 1.5 * width,1.5 * height noenhanced font 'DejaVu Sans,11' \
		fontscale 1.5 linewidth 1.5 background '#ffffff'
}
if (picture ne '') { set output picture }

ink = '#33363d'
pale = '#646974'
set border 15 linecolor rgb '#c4c8cf' linewidth 1
set grid linetype 1 linecolor rgb '#e4e6ea' linewidth 1
set tics scale 0 textcolor rgb ink
unset key
