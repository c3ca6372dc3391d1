// The finished answers of this page, for the views that look back at them.

export class Answers {
  constructor() {
    this.all = [];
    this.listeners = [];
  }

  onAdd(heard) {
    this.listeners.push(heard);
  }

  add(answer) {
    this.all.push(answer);
    for (const heard of this.listeners) heard(answer);
  }
}
