
# A map for each category, all with the same axes: the category's examples over all others, in grey.
set multiplot
set label 101 map_title at screen X(map_left),Y(height - T(34)) left noenhanced front font sized(title_points) textcolor rgb ink
set label 102 map_caption at screen X(map_left),Y(height - T(60)) left noenhanced front font sized(10) textcolor rgb pale
set label 103 x_name at screen X((map_left + facets_right) / 2),Y(T(22)) center noenhanced front textcolor rgb ink
set label 104 y_name at screen X(T(22)),Y((facets_bottom + facets_top) / 2) center rotate noenhanced front textcolor rgb ink
set xrange [x_from:x_to]
set yrange [y_from:y_to]
do for [f=1:frames] {
	right = FacetLeft[f] + facet_width
	top = FacetBottom[f] + facet_height
	set lmargin at screen X(FacetLeft[f])
	set rmargin at screen X(right)
	set bmargin at screen Y(FacetBottom[f])
	set tmargin at screen Y(top)
	set xtics x_step format (FacetIsLowest[f] ? x_format : '') font small offset 0,0.3
	set ytics y_step format (FacetIsFirst[f] ? y_format : '') font small offset 0.5,0
	set label 105 Level[f] at screen X(FacetLeft[f] + T(18)),Y(top + T(12)) left noenhanced front font sized(10) textcolor rgb ink
	set label 106 '' at screen X(FacetLeft[f] + T(7)),Y(top + T(12)) front \
		point pointtype Shape[f] pointsize KeySize[f] * text_size linewidth 1.4 linecolor rgb Colour[f]
	set label 107 LevelCount[f] at screen X(right),Y(top + T(12)) right noenhanced front font sized(10) textcolor rgb pale
	plot data binary skip=Skip[f] record=(Points[f]) format='%float32%float32%float32%float32' endian=little \
		using 1:2:(size($3, $4)):(shape($3, $4)):(colour($3, $4)) \
		with points pointsize variable pointtype variable linecolor rgb variable linewidth Line[f] notitle
	unset label
}
unset multiplot
unset output
