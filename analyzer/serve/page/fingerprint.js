/*
 * fingerprint.js: asks of which data runs were recorded: anew when a run has grown, one question at a time, with a pause after each.
 */

const REST = 9; /* times as long as the last answer took: the pause before the next question */

/*
 * Returns want(at, otherAt), which asks, unless the runs are as they were; otherAt may be left out. Both have {run, version}. show(answer)
 * gets what source.fingerprint() answers, with the names {run, other} that were asked about. If there is no answer, nothing is shown:
 * whatever else asks about the run says why.
 */
export function askFingerprint(source, show) {
  let last = ""; /* what was asked about last */
  let wanted = null;
  let isBusy = false;

  const ask = async () => {
    isBusy = true;
    while (wanted) {
      const { run, other } = wanted;
      const began = performance.now();
      wanted = null;
      const answer = await source.fingerprint(run, other).catch(() => null);
      if (answer) show({ ...answer, run, other });
      else last = "";
      const took = performance.now() - began;
      await new Promise((rested) => setTimeout(rested, REST * took));
    }
    isBusy = false;
  };

  return (at, otherAt) => {
    const about = JSON.stringify([at.run, at.version, otherAt?.run, otherAt?.version]);
    if (about === last) return;
    last = about;
    wanted = { run: at.run, other: otherAt?.run };
    if (!isBusy) ask();
  };
}
