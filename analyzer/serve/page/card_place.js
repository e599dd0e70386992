/* card_place.js: finds the place of the hover card in the window: near its point, and off what was selected last. */

const APART = 16; /* pixels between the point and the card */
const EDGE = 4; /* pixels between the card and the window's edge */

const overlap = (a, b) =>
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

/*
 * All in pixels of the window. card, window: {width, height}; at: {x, y} of the point; map: the rectangle of the map's section; avoid: a
 * rectangle {left, top, right, bottom} that the card should not cover, or null. Returns {left, top}: of the places beside the point,
 * and then beside the map and in the window's corners, the first that covers neither; else the one that covers the least.
 */
export function placeCard({ card, at, map, avoid, window: { width, height } }) {
  const within = (value, size, most) => Math.max(EDGE, Math.min(value, most - size - EDGE));
  const place = (left, top) => ({ left: within(left, card.width, width), top: within(top, card.height, height) });
  const [right, left] = [at.x + APART, at.x - APART - card.width];
  const [below, above] = [at.y + APART, at.y - APART - card.height];
  const middle = at.y - card.height / 2;
  const places = [
    place(right, at.y - 20),
    place(left, at.y - 20),
    place(at.x - card.width / 2, below),
    place(at.x - card.width / 2, above),
    place(map.left - card.width - EDGE, middle),
    place(map.right + EDGE, middle),
    ...[0, width].flatMap((x) => [place(x, 0), place(x, height)]),
  ];
  const point = { left: at.x - 1, right: at.x + 1, top: at.y - 1, bottom: at.y + 1 };
  const covered = places.map((one) => {
    const box = { ...one, right: one.left + card.width, bottom: one.top + card.height };
    return (avoid ? overlap(box, avoid) : 0) + (overlap(box, point) > 0 ? card.width * card.height : 0);
  });
  return places[covered.indexOf(Math.min(...covered))];
}
