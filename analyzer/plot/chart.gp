
# One or two panels, side by side, of the series in $data. A range of nothing is taken from the data.
array Hue[5] = ['#0072b2', '#d55e00', '#009e73', '#33363d', '#a9adb5'] # Okabe and Ito's, and the maps' ink
look(style, hue) = style eq 'line' ? sprintf("with lines linewidth 2 linecolor rgb '%s'", hue) : \
	style eq 'points' ? sprintf("with linespoints linewidth 2 pointtype 7 pointsize 0.6 linecolor rgb '%s'", hue) : \
	style eq 'bars' ? sprintf("with boxes linecolor rgb '%s' fillstyle transparent solid 0.35 border", hue) : \
	sprintf("with points pointtype 7 pointsize %s linecolor rgb '%s'", style eq 'few dots' ? '0.8' : '0.35', hue)

set multiplot
set key Left reverse noenhanced textcolor rgb ink
set boxwidth 1 relative
set label 101 chart_title at screen X(left),Y(height - 26) left noenhanced front font 'DejaVu Sans,16' textcolor rgb ink
set label 102 chart_caption at screen X(left),Y(height - 50) left noenhanced front font 'DejaVu Sans,10' textcolor rgb pale
first = 1
do for [p=1:panels] {
	set lmargin at screen X(width / panels * (p - 1) + left)
	set rmargin at screen X(width / panels * p - right)
	set bmargin at screen Y(bottom)
	set tmargin at screen Y(height - top)
	if (XLog[p]) { set logscale x }
	if (XFrom[p] < XTo[p]) { set xrange [XFrom[p]:XTo[p]] } else { set xrange [*:*] }
	if (YFrom[p] < YTo[p]) { set yrange [YFrom[p]:YTo[p]] } else { set yrange [*:*] }
	set xlabel XLabel[p] noenhanced textcolor rgb ink
	set ylabel YLabel[p] noenhanced textcolor rgb ink
	if (Title[p] ne '') { set title Title[p] noenhanced offset 0,-0.5 textcolor rgb ink }
	do for [n=1:notes] {
		if (NotePanel[n] == p) {
			set label 200 + n Note[n] at graph NoteX[n],NoteY[n] left noenhanced front font 'DejaVu Sans,9' textcolor rgb ink
			if (NoteToLeft[n]) { set label 200 + n right }
		}
	}
	if (KeyBelow[p]) { set key bottom right } else { set key top left }
	plots = ''
	do for [s=first:first + Series[p] - 1] {
		plots = plots . sprintf("%s $data index %d using 1:2 %s title Name[%d]", s > first ? ',' : '', s - 1, \
			look(Style[s], Hue[Colour[s] + 1]), s)
	}
	eval 'plot' . plots
	first = first + Series[p]
	unset label
	unset logscale x
}
unset multiplot
unset output
