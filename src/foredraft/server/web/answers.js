// The finished answers of this page, for the views that look back at them.

export class Answers {
  constructor() {
    this.all = [];
    this.listeners = [];
  }

  /** Call `heard` with every new answer, and with one that somebody wants to look at. */
  onShow(heard) {
    this.listeners.push(heard);
  }

  add(answer) {
    this.all.push(answer);
    this.show(answer);
  }

  show(answer) {
    for (const heard of this.listeners) heard(answer);
  }
}
