
# The map itself.

# A region's name stands in a white box with round corners, turned with it. Corner k of 24, from the middle of the box:
turn(k) = (k / 6 + (k % 6) / 5.0) * pi / 2
along_box(k, box) = word('1 -1 -1 1', k / 6 + 1) * (box / 2.0 - 4) + 4 * cos(turn(k))
across_box(k) = word('1 1 -1 -1', k / 6 + 1) * (label_height / 2.0 - 4) + 4 * sin(turn(k))
slope = label_angle * pi / 180
corner_x(k, box) = along_box(k, box) * cos(slope) - across_box(k) * sin(slope)
corner_y(k, box) = along_box(k, box) * sin(slope) + across_box(k) * cos(slope)

# A path: white below its line, a large point at its end, a white one at its beginning. Colours are near Okabe and Ito's, so dark
# that the paths' names can have them; the second round is dashed.
path_colour(p) = word('#b84a00 #0072b2 #00775a #a34a7e #000000 #1a76ad #8a5f00', (p - 1) % 7 + 1)
path_size = format eq 'svg' ? 0.7 : 1.0
path_plots = ''
do for [p=1:paths] {
	path = sprintf(', $paths index %d', p - 1)
	path_plots = path_plots . path . " with lines linewidth 4 linecolor rgb '#ffffff' notitle" . \
		path . sprintf(" with linespoints linewidth 1.8 dashtype %d pointtype 7 pointsize %.2f", p > 7 ? 2 : 1, 0.7 * path_size) . \
		sprintf(" linecolor rgb '%s' notitle", path_colour(p)) . \
		path . sprintf(" every ::%d with points pointtype 7 pointsize %.2f", PathLast[p], 1.4 * path_size) . \
		sprintf(" linecolor rgb '%s' notitle", path_colour(p)) . \
		path . sprintf(" every ::0::0 with points pointtype 7 pointsize %.2f linecolor rgb '#ffffff' notitle", 0.35 * path_size)
}
set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0.4,0.4

# Numbers along a histogram: "1.5M", "20k", "300": one unit for a whole axis, by its step, of which there are two to five.
round_up(n, unit) = n <= unit ? unit : n <= 2 * unit ? 2 * unit : n <= 5 * unit ? 5 * unit : 10 * unit
step_for(most) = round_up(most / 4.5, 10.0 ** floor(log10(most / 4.5)))
in_units(n, step) = step >= 2e5 ? sprintf('%g%s', n / 1e6, n > 0 ? 'M' : '') : \
	step >= 1e3 ? sprintf('%g%s', n / 1e3, n > 0 ? 'k' : '') : sprintf('%.0f', n)

array Most[frames * panels + 1]
do for [i=1:frames * panels] {
	stats $bars index i - 1 using ($2 > $3 ? $2 : $3) nooutput
	Most[i] = STATS_max > 0 ? STATS_max : 1
}

if (!animated) { set multiplot }
do for [f=1:frames] {
	if (animated) { set multiplot }
	moved = beside * (f - 1)
	last = f == frames || beside == 0
	keyed = style eq 'points' && colouring eq 'correctness' && last
	key_left = 690 + moved

	if (f == 1 || animated) {
		set label 101 map_title at screen X(map_left),Y(height - 34) left noenhanced front font 'DejaVu Sans,16' textcolor rgb ink
	}
	set label 102 Caption[f] at screen X(map_left + moved),Y(height - 60) left noenhanced front \
		font 'DejaVu Sans,10' textcolor rgb pale
	do for [r=1:3] {
		x = LabelX[3 * (f - 1) + r] + moved
		y = LabelY[3 * (f - 1) + r]
		if (LabelShown[3 * (f - 1) + r]) {
			box = ''
			do for [k=0:24] {
				box = box . sprintf(' %s screen %.5f,%.5f', k == 0 ? 'from' : 'to', \
					X(x + corner_x(k % 24, LabelWidth[r])), Y(y + corner_y(k % 24, LabelWidth[r])))
			}
			eval sprintf('set object %d polygon', r) . box . " front fillcolor rgb '#ffffff' fillstyle solid border " . \
				sprintf("linecolor rgb '%s' linewidth 1.6", word('#d0452f #26262c #3f55b5', r))
			set label r word('easy-to-learn ambiguous hard-to-learn', r) at screen X(x),Y(y) center rotate by label_angle \
				front font 'DejaVu Sans,10' textcolor rgb '#16181d'
		}
	}
	do for [p=1:paths] {
		set label 200 + p PathName[p] at screen X(PathX[p]),Y(PathY[p]) left noenhanced front boxed \
			font 'DejaVu Sans,10' textcolor rgb path_colour(p)
		if (PathToLeft[p]) { set label 200 + p right }
	}

	set lmargin at screen X(map_left + moved)
	set rmargin at screen X(map_right + moved)
	set bmargin at screen Y(map_bottom)
	set tmargin at screen Y(map_top)
	set xrange [x_from:x_to]
	set yrange [y_from:y_to]
	set xtics x_step format x_format font '' offset 0,0
	set ytics y_step format y_format font '' offset 0,0
	set xlabel x_name noenhanced textcolor rgb ink offset 0,0.2
	set ylabel y_name noenhanced textcolor rgb ink offset 0.6,0
	if (moved > 0) {
		set format y ''
		unset ylabel
	}

	# The colours' key: the levels, or a bar.
	if (colour_bar) {
		set cbrange [colour_from:colour_to]
		if (style eq 'counts') {
			set logscale cb
			set colorbox user origin screen X(key_left + 4),Y(map_top - 230) size screen X(16),Y(200) noborder
			set cbtics format '%.0f' textcolor rgb ink offset -0.6,0
			set label 103 'examples' at screen X(key_left),Y(map_top - 10) left front textcolor rgb ink
		} else {
			set colorbox user origin screen X(key_left + 4),Y(map_top - 300) size screen X(16),Y(300) noborder
			set cbtics colour_step format colour_format textcolor rgb ink offset -0.6,0
			set cblabel colour_note noenhanced font 'DejaVu Sans,10' textcolor rgb ink offset 0.4,0
		}
		if (!last) {
			unset colorbox
			unset label 103
		}
	}
	if (keyed) {
		set key at screen X(key_left),Y(map_top + 2) left top Left reverse samplen 0.6 spacing 1.3 width 0 noenhanced \
			textcolor rgb ink title key_title left
	}
	if (colouring eq 'category' && last) {
		set label 400 key_title at screen X(key_left),Y(map_top - 8) left noenhanced front textcolor rgb ink
		do for [k=1:levels] {
			y = map_top - 12 - 21 * k
			set label 400 + k Level[k] at screen X(key_left + 22),Y(y) left noenhanced front textcolor rgb ink
			set label 440 + k '' at screen X(key_left + 8),Y(y) front \
				point pointtype Shape[k] pointsize KeySize[k] linewidth 1.4 linecolor rgb Colour[k]
			set label 480 + k LevelCount[k] at screen X(key_left + key_width),Y(y) right noenhanced front textcolor rgb pale
		}
	}

	if (style eq 'points') {
		plots = "data binary skip=Skip[f] record=(Points[f]) format='%float32%float32%float32%float32' endian=little \
			using 1:2:(size($3, $4)):(shape($3, $4)):(colour($3, $4)) \
			with points pointsize variable pointtype variable linecolor rgb variable linewidth Line[f] notitle"
		if (colour_bar) { plots = plots . ', NaN with points palette notitle' } # makes gnuplot draw the bar
		if (keyed) {
			plots = plots . ', for [k=levels:1:-1] keyentry with points pointsize KeySize[k] pointtype Shape[k] \
				linecolor rgb Colour[k] linewidth 1.4 title Level[k]'
		}
		eval 'plot ' . plots . path_plots
	} else {
		dx = 1.0 * (x_to - x_from) / cells_x
		dy = 1.0 * (y_to - y_from) / cells_y
		eval "plot data binary skip=Skip[f] array=(cells_x,cells_y) format='%float32' endian=little dx=dx dy=dy \
			origin=(x_from + dx / 2,y_from + dy / 2) with image " . (format eq 'svg' || format eq 'gif' ? 'pixels ' : '') . 'notitle'
	}
	unset colorbox
	unset logscale cb
	unset label
	unset object
	unset key

	# Histograms right of the map, of its y, its x, and what colours it; of a shift, of both runs, in % of their examples.
	if (panels > 0) {
		set label 104 (style eq 'shift' ? '% of examples' : 'examples') at screen X(panel_left),Y(map_top + 10) left front \
			font 'DejaVu Sans,9' textcolor rgb pale
	}
	do for [k=1:panels] {
		panel_height = (map_top - map_bottom - 2 * 62) / 3.0
		panel_top = map_top - (k - 1) * (panel_height + 62)
		panel = panels * (f - 1) + k
		set lmargin at screen X(panel_left)
		set rmargin at screen X(panel_right)
		set bmargin at screen Y(panel_top - panel_height)
		set tmargin at screen Y(panel_top)
		set xlabel PanelName[k] noenhanced textcolor rgb ink offset 0,0.5
		unset ylabel
		set style fill solid noborder
		set boxwidth 0.9 * PanelBin[k] absolute
		set xrange [PanelFrom[k]:PanelTo[k]]
		set xtics autofreq PanelStep[k] format PanelFormat[k] font 'DejaVu Sans,9' offset 0,0.3
		if (k == 3 && levels > 0) {
			set xrange [-0.6:levels - 0.4]
			set xtics ('0' 0, '1' levels - 1)
			if (levels > 2) { set xtics add ('0.5' (levels - 1) / 2.0) }
			if (colouring eq 'category') { unset xtics }
		}
		most = Most[panel]
		step = step_for(most) > 1 ? step_for(most) : 1
		set yrange [0:1.06 * most]
		set ytics ('0' 0) font 'DejaVu Sans,9' offset 0.7,0
		set for [i=1:int(1.06 * most / step)] ytics add (in_units(i * step, step) i * step)
		means = k == 3 && colouring eq 'category'
		if (means) {
			set ytics 0,round_up(most / 3.0, 10.0 ** floor(log10(most / 3.0))) format '%g'
			set xlabel offset 0,-0.4
			plot $bars index panel - 1 using 1:2:(Colour[int($0) + 1]) with boxes linecolor rgb variable notitle
		}
		if (style eq 'shift') {
			plot $bars index panel - 1 using 1:2 with boxes linecolor rgb '#0072b2' fillstyle transparent solid 0.7 notitle, \
				'' index panel - 1 using 1:3 with histeps linewidth 1.6 linecolor rgb '#d55e00' notitle
		}
		if (!means && style ne 'shift') {
			plot $bars index panel - 1 using 1:2 with boxes linecolor rgb word('#5d3a8e #3f8785 #6f9a6a', k) notitle
		}
		unset label
	}
	if (animated) { unset multiplot }
}
if (!animated) { unset multiplot }
unset output
