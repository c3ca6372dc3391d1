// What the server says of itself, asked every few seconds while the page is seen.

import { Problem, status } from "./api.js";

const EVERY_MS = 2000;

export class Feed {
  constructor() {
    this.value = null;
    this.problem = null;
    this.listeners = [];
    this.waiting = 0;
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.ask(); });
  }

  /** Call `heard` after every answer, and when there is none. */
  onChange(heard) {
    this.listeners.push(heard);
  }

  /** Ask now, and again after a while; while the page is hidden nobody is asked. */
  async ask() {
    clearTimeout(this.waiting);
    try {
      this.value = await status();
      this.problem = null;
    } catch (error) {
      this.problem = error instanceof Problem ? error : new Problem("error.gone");
    }
    for (const heard of this.listeners) heard(this);
    if (!document.hidden) this.waiting = setTimeout(() => this.ask(), EVERY_MS);
  }
}
