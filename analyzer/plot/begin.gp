
# The terminal, and the look of everything. Lengths are in units, from the bottom left of the picture, which is `width` by
# `height`. By hand, the script works in its own folder, where its data are; `picture` may be set before to draw it elsewhere.
if (!exists('data')) {
	data = own_data
	folder = exists('ARG0') ? ARG0 : ''
	while (strlen(folder) > 0 && folder[strlen(folder):] ne '/') { folder = folder[:strlen(folder) - 1] }
	if (strlen(folder) > 0) { cd folder }
}
if (!exists('picture')) { picture = own_picture }

# The size of all text beside the usual; dots of a PNG to a unit; a picture of a size on paper.
if (!exists('font_name')) { font_name = 'DejaVu Sans' }
if (!exists('text_size')) { text_size = 1 }
if (!exists('dots')) { dots = 2 }
if (!exists('on_paper')) { on_paper = 0 }
T(x) = x * text_size
points_of(points) = points * text_size >= 7 ? points * text_size : 11 * text_size >= 7 ? 7 : 11 * text_size # 7 where the axes have more
sized(points) = sprintf('%s,%.4g', font_name, points_of(points))
usual = sized(11)
small = sized(9)

set encoding utf8
X(x) = floor(1e5 * x / width + 0.5) / 1e5
Y(y) = floor(1e5 * y / height + 0.5) / 1e5
inches(units) = floor(units / 0.96 + 0.5) / 100.0
if (format eq 'png') {
	set terminal pngcairo size floor(dots * width + 0.5),floor(dots * height + 0.5) noenhanced font usual \
		fontscale dots pointscale dots linewidth dots
}
if (format eq 'svg') {
	if (on_paper) {
		set terminal svg size width,height fixed noenhanced font usual fontscale 1.33 background '#ffffff'
	} else {
		set terminal svg size width,height dynamic noenhanced font usual fontscale 1.33 background '#ffffff'
	}
}
if (format eq 'pdf') {
	set terminal pdfcairo size inches(width) in,inches(height) in noenhanced font usual \
		fontscale 0.75 pointscale 0.75 linewidth 1.2
}
if (format eq 'gif') {
	set terminal gif animate delay 80 loop 0 size 1.5 * width,1.5 * height noenhanced font usual \
		fontscale 1.5 linewidth 1.5 background '#ffffff'
}
if (picture ne '') { set output picture }

ink = '#33363d'
pale = '#646974'
set border 15 linecolor rgb '#c4c8cf' linewidth 1
set grid linetype 1 linecolor rgb '#e4e6ea' linewidth 1
set tics scale 0 textcolor rgb ink
unset key

# Large numbers as texts have them: 25,000.
grouped(n) = n < 0 ? '-' . grouped(-n) : n < 1e3 ? sprintf('%g', n) : n < 1e6 ? sprintf('%d,%03d', n / 1000, int(n) % 1000) : \
	n < 1e9 ? sprintf('%d,%03d,%03d', n / 1000000, int(n / 1000) % 1000, int(n) % 1000) : sprintf('%g', n)
