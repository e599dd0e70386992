/* file_note.js: says what this file holds: which run, made when, all examples or a sample, and what was left out. */
import { count, element } from "./dom.js";

/* A link without axes and colour means those that the command line asked for. */
export function useFileDefaults(state, { examples }) {
  for (const [key, value] of Object.entries(examples.about.shown)) state.define(key, value, true);
}

function describe({ about, view, n, leftOut }) {
  const made = about.created.replace("T", " ").replace("Z", " UTC");
  const epochs = `epochs ${view.epochs[0]} to ${view.epochs[view.epochs.length - 1]}`;
  const whole =
    n < view.points
      ? `It holds a random sample: ${count(n)} of ${count(view.points)} examples (seed ${about.seed}). Counts, selections and exports cover this sample; the exported command selects among all.`
      : `It holds all ${count(n)} observed examples.`;
  const unfinished = view.state === "recording" ? " The run was still being recorded." : "";
  const missing = leftOut ? ` Left out: ${leftOut}.` : "";
  return `This page is one file, made ${made}: ${view.run}, ${epochs}. ${whole}${unfinished}${missing}`;
}

export function showFileNote(header, { source }) {
  const { title } = source.examples.about;
  if (title) header.querySelector("h1").textContent = title;
  header.after(element("aside", { id: "file-note", "aria-label": "This file" }, describe(source.examples)));
}
