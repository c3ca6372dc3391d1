// How answers are asked for: the dialog that both the chat and the race use.

import { byId, el, onSubmit } from "./dom.js";
import { onLanguage, t } from "./i18n.js";

const field = (name) => byId(`set-${name}`);
const number = (name) => (field(name).value === "" ? null : Number(field(name).value));

export class Settings {
  constructor(feed) {
    this.modes = ["auto", "off"];
    this.model = "";
    const dialog = byId("settings");
    for (const button of document.querySelectorAll(".open-settings")) {
      button.addEventListener("click", () => dialog.showModal());
    }
    onSubmit("settings-form", () => dialog.close());
    byId("settings-form").addEventListener("input", () => this.#show());
    feed.onChange(({ value }) => this.#learn(value));
    onLanguage(() => this.#show());
    this.#offer();
  }

  get mode() {
    return field("mode").value;
  }

  get seed() {
    return number("seed");
  }

  /** A request for these messages; a seed is drawn where none is set. */
  body(messages, { mode = this.mode, seed = this.seed ?? freshSeed(), scope = null } = {}) {
    const speculation = { mode, exactness: field("exactness").value, details: true };
    const length = number("draft");
    if (mode === this.mode && this.#fixed && length) speculation.draft_len = length;
    if (scope) speculation.user_scope = scope;
    return {
      model: this.model, messages, stream: true, stream_options: { include_usage: true },
      temperature: number("temperature") ?? 1, max_tokens: number("most") ?? 256, seed, speculation,
    };
  }

  /** Only one drafter's draft length can be fixed. */
  get #fixed() {
    return !["auto", "off"].includes(this.mode);
  }

  #learn(value) {
    if (!value) return;
    this.model = value.model;
    const modes = ["auto", "off", ...value.drafters];
    if (modes.join() === this.modes.join()) return;
    this.modes = modes;
    this.#offer();
  }

  #offer() {
    const chosen = this.mode;
    field("mode").replaceChildren(...this.modes.map((mode) => el("option", { value: mode }, mode)));
    field("mode").value = this.modes.includes(chosen) ? chosen : "auto";
    this.#show();
  }

  #show() {
    field("draft").disabled = !this.#fixed;
    const [temperature, most] = [field("temperature").value, field("most").value];
    for (const node of document.querySelectorAll(".settings-summary")) {
      node.textContent = t("settings.summary", { mode: this.mode, temperature, most });
    }
  }
}

export function freshSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}
