/*
 * framed.js: what the page does in the frame of a notebook's cell (client/python/portolan/_notebook.py): it tells the notebook that
 * it is there, so that the cell's advice goes away, and has a link that opens what is shown in a tab of its own.
 */
import { element } from "./dom.js";

export function showFramed(header, { source }) {
  if (window.parent === window || !source.live) return;
  const follow = () => {
    link.href = location.href; /* the state is in the address */
  };
  const link = element("a", { class: "out", target: "_blank", rel: "noopener", href: location.href, title: "Open in a tab", "aria-label": "Open in a tab", onpointerdown: follow, onfocus: follow }, "↗");
  header.append(link);
  header.querySelector("h1").classList.add("unseen"); /* a cell is narrow */
  window.parent.postMessage("portolan is here", "*"); /* nothing that is secret: another site may have it in a frame */
}
