
# Panels, one below the other, of the series in $data. A range of nothing is taken from the data. Curves differ by mark and dash too, dots by mark: of two curves
# that coincide the lower one shows in the gaps of the upper one.
array Hue[5] = ['#0072b2', '#d55e00', '#009e73', '#33363d', '#8f949f'] # Okabe and Ito's, and the maps' ink
mark(k) = word('7 5 9 11 13', k)
dash(k) = word('1 2 4 1 1', k)
fill(k) = word('0.6 0.2 0.4 0.4 0.4', k) # of bars: told apart without colours too
plain = '1:2 '
across = '1:2:(0):1:($2-0.19):($2+0.19) '
look(style, k) = style eq 'line' ? sprintf("with lines linewidth 2 linecolor rgb '%s'", Hue[k]) : \
	style eq 'pairs' ? sprintf("with lines linewidth 1 linecolor rgb '%s'", Hue[k]) : \
	style eq 'dashes' ? sprintf("with lines linewidth 2 dashtype %s linecolor rgb '%s'", dash(k), Hue[k]) : \
	style eq 'points' ? sprintf("with linespoints linewidth 2 dashtype %s pointtype %s pointsize 0.6 linecolor rgb '%s'", dash(k), mark(k), Hue[k]) : \
	style eq 'haze' ? sprintf("with points pointtype 7 pointsize 0.35 linecolor rgb '#b8%s'", substr(Hue[k], 2, 7)) : \
	style eq 'area' ? sprintf("with filledcurves closed linecolor rgb '%s' fillstyle transparent solid %s noborder", Hue[k], fill(k)) : \
	style eq 'across' ? sprintf("with boxxyerror linecolor rgb '%s' fillstyle solid %s border", Hue[k], fill(k)) : \
	style eq 'bars' ? sprintf("with boxes linecolor rgb '%s' fillstyle transparent solid %s border", Hue[k], fill(k)) : \
	sprintf("with points pointtype %s pointsize %s linecolor rgb '%s'", mark(k), style eq 'few dots' ? '0.8' : '0.35', Hue[k])

# A logarithmic axis: the decades, and, where there are few of them, numbers between.
between(from, to) = to / from < 1.6 && from >= 10 ? '1 1.2 1.4 1.6 1.8 2 2.5 3 3.5 4 5 6 7 8 9' : \
	to / from < 3 && from >= 10 ? '1 1.2 1.5 2 2.5 3 4 5 6 8' : to / from < 10 ? '1 2 3 5 7' : \
	to / from < 300 ? '1 2 5' : '1'
# Of numbers along an axis, four to nine.
decade_of(range) = 10.0 ** floor(log10(range / 5))
step_of(range) = decade_of(range) * (range / decade_of(range) > 20 ? 5 : range / decade_of(range) > 8 ? 2 : 1)

set multiplot
set key Left reverse noenhanced textcolor rgb ink horizontal samplen 2 width 2
set boxwidth 1 relative
set label 101 chart_title at screen X(margin),Y(height - 26) left noenhanced front font 'DejaVu Sans,16' textcolor rgb ink
do for [n=1:captions] {
	set label 101 + n Caption[n] at screen X(margin),Y(height - 32 - 18 * n) left noenhanced front font 'DejaVu Sans,10' textcolor rgb pale
}
first = 1
do for [p=1:panels] {
	set lmargin at screen X(Left[p])
	set rmargin at screen X(Right[p])
	set bmargin at screen Y(Bottom[p])
	set tmargin at screen Y(Top[p])
	set xtics autofreq
	if (XStep[p] > 0) { set xtics XStep[p] }
	if (XLog[p]) {
		set logscale x
		set xtics ()
		steps = between(XFrom[p], XTo[p])
		do for [decade=floor(log10(XFrom[p])):ceil(log10(XTo[p]))] {
			do for [step in steps] {
				at = step * 10.0 ** decade
				if (at >= XFrom[p] && at <= XTo[p]) { set xtics add (grouped(at) at) }
			}
		}
	}
	if (XFrom[p] < XTo[p]) { set xrange [XFrom[p]:XTo[p]] } else { set xrange [*:*] }
	if (YFrom[p] < YTo[p]) { set yrange [YFrom[p]:YTo[p]] } else { set yrange [*:*] }
	set ytics autofreq
	if (YLog[p]) { set logscale y }
	if (YWhole[p] && YTo[p] - YFrom[p] < 5) { set ytics 1 }
	if (YFrom[p] < YTo[p] && YTo[p] >= 1000) {
		set ytics ()
		step = step_of(YTo[p] - YFrom[p])
		do for [i=ceil(YFrom[p] / step):floor(YTo[p] / step)] { set ytics add (grouped(i * step) i * step) }
	}
	do for [n=1:names] {
		if (YNamePanel[n] == p) {
			if (YNameAt[n] == 0) { set ytics () }
			set ytics add (YName[n] YNameAt[n])
		}
	}
	set xlabel XLabel[p] noenhanced textcolor rgb ink
	set label 151 YLabel[p] at screen X(14),Y((Bottom[p] + Top[p]) / 2) center rotate by 90 noenhanced front textcolor rgb ink
	set label 150 Title[p] at screen X(Left[p]),Y(Top[p] + key_row * KeyRows[p] + 14) left noenhanced front textcolor rgb ink
	do for [n=1:notes] {
		if (NotePanel[n] == p) {
			set label 200 + n Note[n] at graph NoteX[n],NoteY[n] left noenhanced front font 'DejaVu Sans,9' textcolor rgb ink
			if (NoteToLeft[n]) { set label 200 + n right }
		}
	}
	# The key stands above the frame: nothing is hidden by it. One series needs none.
	if (KeyRows[p] > 0) { set key at graph 0,graph 1.02 left bottom maxcols int(KeyColumns[p]) } else { unset key }
	plots = Series[p] > 0 ? '' : ' NaN notitle'
	do for [s=first:first + Series[p] - 1] {
		plots = plots . sprintf("%s $data index %d using %s %s title Name[%d]", s > first ? ',' : '', s - 1, \
			Style[s] eq 'across' ? across : plain, look(Style[s], int(Colour[s]) + 1), s)
	}
	eval 'plot' . plots
	first = first + Series[p]
	unset label
	unset logscale
}
unset multiplot
unset output
