/*
 * play.js: shows one range of epochs after another. A step is a new picture, never a movement: nothing was observed between
 * two epochs. Each picture stays for a while after it is complete; meanwhile the source is
 * asked for the next view, so that it is ready.
 */

export class Player {
  isPlaying = false;
  pause = 1000; /* milliseconds that a picture stays */
  #wanted = null;
  #timer = 0;

  /* next(): the range after the one that is shown, or null. changed(): called when playing begins or ends. */
  constructor({ state, source }, next, changed) {
    Object.assign(this, { state, source, next, changed });
    state.subscribe(["run", "epochs", "view", "busy", "error"], () => this.#follow());
  }

  /* first: the range to begin with. */
  start(first) {
    this.isPlaying = true;
    this.changed();
    this.#show(first);
  }

  stop() {
    if (!this.isPlaying) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.isPlaying = false;
    this.changed();
  }

  #show(range) {
    this.#wanted = range;
    this.state.set({ epochs: range });
    this.#follow();
  }

  /* Playing ends when something else changes the epochs, or fails. Once the picture is complete, the next one waits its turn. */
  #follow() {
    const { state } = this;
    if (!this.isPlaying) return;
    if (state.epochs !== this.#wanted || state.error) {
      this.stop();
      return;
    }
    if (this.#timer || state.busy || state.view?.range !== this.#wanted || state.view.run !== state.run) return;
    const next = this.next();
    if (next === null) {
      this.stop();
      return;
    }
    this.source.view(state.run, next).catch(() => {});
    this.#wait(next);
  }

  #wait(next) {
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      if (document.hidden) this.#wait(next);
      else this.#show(next);
    }, this.pause);
  }
}
