/* main.js: starts the page: a state, a source, a loader, and the modules that show something. */
import { showCompare } from "./compare.js";
import { showControls } from "./controls.js";
import { showEpochs } from "./epochs.js";
import { showExport } from "./export.js";
import { showFileNote, useFileDefaults } from "./file_note.js";
import { fileSource } from "./file_source.js";
import { showFilters } from "./filters.js";
import { showFramed } from "./framed.js";
import { showGroups } from "./groups.js";
import { showHistory } from "./history.js";
import { showLayout } from "./layout.js";
import { showLegend } from "./legend.js";
import { keepSelection } from "./kept.js";
import { createLoader } from "./loader.js";
import { showMap } from "./map.js";
import { showNotices } from "./notices.js";
import { showDensityKey } from "./density_key.js";
import { showPinned } from "./pinned.js";
import { showProgress } from "./progress.js";
import { showRegions } from "./regions.js";
import { showReport } from "./report.js";
import { showRuns } from "./runs.js";
import { showSaved } from "./saved.js";
import { showSelect } from "./select.js";
import { epochsOf } from "./selection.js";
import { ServerSource } from "./source.js";
import { createState } from "./state.js";
import { showTable } from "./table.js";
import { Tags } from "./tags.js";
import { showTagsPanel } from "./tags_panel.js";
import { showTheme } from "./theme.js";
import { showTools } from "./tools.js";

/* Attributes that say what is drawn now, for tests and for style sheets. */
function describe(state) {
  const { view, marks, selected } = state.gone ? {} : state;
  const main = document.querySelector("main");
  const { dataset } = main;
  dataset.run = view?.run ?? "";
  dataset.epochs = view ? epochsOf(view) : "";
  dataset.points = marks?.drawn ?? 0;
  dataset.examples = view?.examples ?? 0;
  dataset.selected = selected?.count ?? 0;
  document.title = view ? `${view.run} · Portolan` : "Portolan";
}

function start() {
  const state = createState();
  const file = fileSource();
  const source = file ?? new ServerSource();
  const loader = createLoader(state, source);
  const at = (id) => document.getElementById(id);

  state.subscribe(["view", "marks", "selected", "gone"], () => describe(state));
  /* A module: show…(its element, {state, source, loader, tags}). */
  const parts = { state, source, loader };
  parts.tags = new Tags(parts);
  showLayout(state);
  if (file) showFileNote(document.querySelector("header"), parts);
  showRuns(document.querySelector("header"), parts);
  showTheme(document.querySelector("header"), parts);
  showControls(at("map-controls"), parts);
  showTools(at("map-controls"), parts);
  showHistory(at("map-controls"), parts);
  const map = showMap(at("map"), parts);
  showEpochs(at("epochs"), { ...parts, map });
  showLegend(at("legend"), parts);
  showDensityKey(at("density"), { ...parts, map });
  showRegions(at("regions"), parts);
  showSelect(at("select"), parts);
  showFilters(at("filters"), parts);
  showPinned(at("pinned"), parts);
  showTable(at("table"), parts);
  showTagsPanel(at("tags"), parts);
  showReport(at("report"), parts);
  showExport(at("export"), parts);
  showSaved(at("saved"), parts);
  showGroups(at("groups"), parts);
  showCompare(at("compare"), { ...parts, map });
  showProgress(at("progress"), parts);
  showNotices(map, parts);
  keepSelection(parts);
  at("skip").addEventListener("click", (event) => {
    event.preventDefault(); /* the fragment is the state's */
    map.svg.focus();
  });
  showFramed(document.querySelector("header"), parts);
  if (file) useFileDefaults(state, file);
  state.followAddress(); /* after every module has defined its keys */
}

start();
