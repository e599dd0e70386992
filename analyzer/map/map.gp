
# The map itself. Lengths of what is made for text are T() of those in a whole map.

# A region's name stands in a white box with round corners, turned with it. Corner k of 24, from the middle of the box:
turn(k) = (k / 6 + (k % 6) / 5.0) * pi / 2
along_box(k, box) = word('1 -1 -1 1', k / 6 + 1) * (box / 2.0 - T(4)) + T(4) * cos(turn(k))
across_box(k) = word('1 1 -1 -1', k / 6 + 1) * (label_height / 2.0 - T(4)) + T(4) * sin(turn(k))
slope = label_angle * pi / 180
corner_x(k, box) = along_box(k, box) * cos(slope) - across_box(k) * sin(slope)
corner_y(k, box) = along_box(k, box) * sin(slope) + across_box(k) * cos(slope)

# The lines between the regions: dark on white, so that they are seen over points and beside them.
cut_plots = ''
if (lined) {
	cut_plots = ", $cuts index f - 1 with lines linewidth 2.4 linecolor rgb '#ffffff' notitle" . \
		", $cuts index f - 1 with lines linewidth 1.2 dashtype (14,8) linecolor rgb '#16181d' notitle"
}

# A path: white below its line, arrows on it, a large point at its end, a white one at its beginning. Colours are near Okabe and
# Ito's, so dark that the paths' names can have them; the second round is dashed.
path_colour(p) = word('#b84a00 #0072b2 #00775a #a34a7e #000000 #1a76ad #8a5f00', (p - 1) % 7 + 1)
path_size = format eq 'svg' ? 0.7 : 1.0
point(colour, size) = sprintf("pointtype 7 pointsize %.2f linecolor rgb '%s'", size * path_size * text_size, colour)
path_plots = ''
do for [p=1:paths] {
	path = sprintf(', $paths index %d', p - 1)
	path_plots = path_plots . path . " with lines linewidth 4 linecolor rgb '#ffffff' notitle" . \
		path . sprintf(" with linespoints linewidth 1.8 dashtype %d ", p > 7 ? 2 : 1) . point(path_colour(p), 0.7) . ' notitle' . \
		(PathArrows[p] == 0 ? '' : sprintf(", $arrows index %d with filledcurves closed fillcolor rgb '%s' fillstyle solid noborder notitle", \
			PathArrows[p] - 1, path_colour(p))) . \
		path . sprintf(' every ::%d with points ', PathLast[p]) . point(path_colour(p), 1.4) . ' notitle' . \
		path . ' every ::0::0 with points ' . point(path_colour(p), 1.1) . ' notitle' . \
		path . ' every ::0::0 with points ' . point('#ffffff', 0.6) . ' notitle'
}
set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0.4,0.4
set style textbox 2 opaque noborder fillcolor rgb '#ffffff' margins 0.15,0.1

# Tics of large numbers, which %g would write otherwise.
is_large(low, high) = abs(low) >= 1e4 || abs(high) >= 1e4

# Numbers along a histogram: by steps, of which there are two to five.
round_up(n, unit) = n <= unit ? unit : n <= 2 * unit ? 2 * unit : n <= 5 * unit ? 5 * unit : 10 * unit
step_for(most) = round_up(most / 4.5, 10.0 ** floor(log10(most / 4.5)))

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

	if (f == 1 || animated) {
		set label 101 map_title at screen X(text_left),Y(height - T(34)) left noenhanced front font sized(title_points) textcolor rgb ink
	}
	set label 102 Caption[f] at screen X(text_left + moved),Y(height - T(60)) left noenhanced front \
		font sized(10) textcolor rgb pale
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
			up = lined ? T(7.5) : 0
			set label r word('easy-to-learn ambiguous hard-to-learn', r) at screen X(x - up * sin(slope)),Y(y + up * cos(slope)) \
				center rotate by label_angle front font sized(10) textcolor rgb '#16181d'
			set label 10 + r LabelCount[3 * (f - 1) + r] at screen X(x + up * sin(slope)),Y(y - up * cos(slope)) \
				center rotate by label_angle front font sized(10) textcolor rgb pale
		}
	}
	do for [p=1:paths] {
		set label 200 + p PathName[p] at screen X(PathX[p]),Y(PathY[p]) left noenhanced front boxed \
			font sized(10) textcolor rgb path_colour(p)
		if (PathToLeft[p]) { set label 200 + p right }
	}
	if (paths > 0) {
		do for [n=1:numbers] {
			set label 600 + n sprintf('%d', NumberEpoch[n]) at screen X(NumberX[n]),Y(NumberY[n]) center front boxed bs 2 \
				font sized(8) textcolor rgb path_colour(int(NumberPath[n]))
		}
	}

	set lmargin at screen X(map_left + moved)
	set rmargin at screen X(map_right + moved)
	set bmargin at screen Y(map_bottom)
	set tmargin at screen Y(map_top)
	set xrange [x_from:x_to]
	set yrange [y_from:y_to]
	set xtics autofreq x_step format x_format font '' offset 0,0
	set ytics autofreq y_step format y_format font '' offset 0,0
	if (is_large(x_from, x_to)) { set for [i=ceil(x_from / x_step):floor(x_to / x_step)] xtics add (grouped(i * x_step) i * x_step) }
	if (is_large(y_from, y_to)) { set for [i=ceil(y_from / y_step):floor(y_to / y_step)] ytics add (grouped(i * y_step) i * y_step) }
	set xlabel x_name noenhanced textcolor rgb ink offset 0,0.2
	set ylabel y_name noenhanced textcolor rgb ink offset 0.6,0
	if (moved > 0) {
		set format y ''
		unset ylabel
	}

	# The colours' key: the levels, or a bar.
	if (colour_bar && last) {
		bar = map_right + moved + T(18)
		set cbrange [colour_from:colour_to]
		if (style eq 'counts') {
			set logscale cb
			set colorbox user origin screen X(bar),Y(map_top - T(30) - 0.36 * (map_top - map_bottom)) \
				size screen X(T(16)),Y(0.36 * (map_top - map_bottom)) noborder
			set cbtics ('1' 1) textcolor rgb ink offset -0.6,0
			set for [i=1:floor(log10(colour_to))] cbtics add (grouped(10 ** i) 10 ** i)
			set label 103 'examples' at screen X(bar - T(4)),Y(map_top - T(10)) left front textcolor rgb ink
		} else {
			set colorbox user origin screen X(bar),Y(map_top - 0.55 * (map_top - map_bottom)) \
				size screen X(T(16)),Y(0.55 * (map_top - map_bottom)) noborder
			set cbtics colour_step format colour_format textcolor rgb ink offset -0.6,0
			set cblabel colour_note noenhanced font sized(10) textcolor rgb ink offset 0.4,0
		}
	}
	if (colour_bar && !last) { unset colorbox }
	if (style eq 'shift') {
		y = map_bottom + T(60)
		set label 104 'no change' at screen X(bar + T(22)),Y(y) left front font sized(10) textcolor rgb ink
		set label 105 'no examples' at screen X(bar + T(22)),Y(y - T(22)) left front font sized(10) textcolor rgb ink
		set object 104 rectangle from screen X(bar),Y(y - T(8)) to screen X(bar + T(16)),Y(y + T(8)) front \
			fillcolor palette cb 0 fillstyle solid border linecolor rgb pale
		set object 105 rectangle from screen X(bar),Y(y - T(30)) to screen X(bar + T(16)),Y(y - T(14)) front \
			fillcolor rgb '#ffffff' fillstyle solid border linecolor rgb pale
	}
	if (keys > 0 && last) {
		set label 400 key_title at screen X(key_left),Y(key_top - T(8)) left noenhanced front textcolor rgb ink
		do for [k=1:keys] {
			x = KeyX[k]
			y = KeyY[k]
			if (paths > 0) {
				set label 400 + k PathKey[k] at screen X(x + T(22)),Y(y) left front textcolor rgb ink
				eval sprintf("set label 440 + k '' at screen X(x + T(8)),Y(y) front point %s", \
					point(PathKeyKind[k] < 4 ? ink : '#8f949f', PathKeyKind[k] == 1 ? 1.1 : PathKeyKind[k] == 3 ? 1.4 : 0.7))
				if (k == 1) { eval sprintf("set label 480 '' at screen X(x + T(8)),Y(y) front point %s", point('#ffffff', 0.6)) }
			} else {
				set label 400 + k Level[k] at screen X(x + T(22)),Y(y) left noenhanced front textcolor rgb ink
				set label 440 + k '' at screen X(x + T(8)),Y(y) front \
					point pointtype Shape[k] pointsize KeySize[k] * text_size linewidth 1.4 linecolor rgb Colour[k]
				set label 480 + k LevelCount[k] at screen X(x + key_count),Y(y) right noenhanced front textcolor rgb pale
			}
		}
	}
	if (epochs_shown) {
		set label 700 'after epoch' at screen X(map_right + T(14)),Y(map_bottom + T(68)) left front textcolor rgb ink
		set label 701 sprintf('%d', FrameEpoch[f]) at screen X(map_right + T(14)),Y(map_bottom + T(24)) left front font sized(36) textcolor rgb ink
	}

	if (style eq 'points') {
		plots = "data binary skip=Skip[f] record=(Points[f]) format='%float32%float32%float32%float32' endian=little \
			using 1:2:(size($3, $4)):(shape($3, $4)):(colour($3, $4)) \
			with points pointsize variable pointtype variable linecolor rgb variable linewidth Line[f] notitle"
		if (colour_bar) { plots = plots . ', NaN with points palette notitle' } # makes gnuplot draw the bar
	} else {
		dx = 1.0 * (x_to - x_from) / cells_x
		dy = 1.0 * (y_to - y_from) / cells_y
		plots = "data binary skip=Skip[f] array=(cells_x,cells_y) format='%float32' endian=little dx=dx dy=dy \
			origin=(x_from + dx / 2,y_from + dy / 2) with image " . (format eq 'svg' || format eq 'gif' ? 'pixels ' : '') . 'notitle'
	}
	eval 'plot ' . plots . cut_plots . path_plots
	unset colorbox
	unset logscale cb
	unset label
	unset object

	# Histograms right of the map, of its y, its x, and what colours it; of a shift, of both runs, in % of their examples.
	if (panels > 0) {
		set label 104 (style eq 'shift' ? '% of examples' : 'examples') at screen X(panel_left),Y(map_top + T(10)) left front \
			font sized(9) textcolor rgb pale
	}
	do for [k=1:panels] {
		panel_height = (map_top - map_bottom - 2 * T(62)) / 3.0
		panel_top = map_top - (k - 1) * (panel_height + T(62))
		panel = panels * (f - 1) + k
		set lmargin at screen X(panel_left)
		set rmargin at screen X(panel_right)
		set bmargin at screen Y(panel_top - panel_height)
		set tmargin at screen Y(panel_top)
		set xlabel PanelName[k] noenhanced textcolor rgb ink offset 0,0.5
		unset ylabel
		set style fill solid noborder
		set boxwidth 0.9 * PanelBin[k] absolute
		low = PanelFrom[k]
		high = PanelTo[k]
		step = PanelStep[k]
		set xrange [low:high]
		set xtics autofreq step format '%g' font small offset 0,0.3
		if (is_large(low, high)) { set for [i=ceil(low / step):floor(high / step)] xtics add (grouped(i * step) i * step) }
		if (k == 3 && levels > 0) {
			set xrange [-0.6:levels - 0.4]
			set xtics ('none' 0, 'all' levels - 1)
			if (colouring eq 'category') { unset xtics }
		}
		most = Most[panel]
		step = step_for(most) > 1 ? step_for(most) : 1
		set yrange [0:1.06 * most]
		set ytics ('0' 0) font small offset 0.7,0
		set for [i=1:int(1.06 * most / step)] ytics add (grouped(i * step) i * step)
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
