// The chat: a conversation whose answers show what was drafted.

import { Answer } from "./answer.js";
import { Problem } from "./api.js";
import { byId, el, onSubmit } from "./dom.js";
import { fixed, times } from "./format.js";
import { onLanguage, t } from "./i18n.js";
import { notice } from "./notice.js";
import { TokenView } from "./tokens.js";

const NEAR = 120;
const EXAMPLES = ["example.repeat", "example.story", "example.list"];

export class Chat {
  constructor({ settings, panel, answers, askKey }) {
    Object.assign(this, { settings, panel, answers, askKey });
    this.messages = [];
    this.stopper = null;
    onSubmit("composer", () => this.#submit());
    byId("prompt").addEventListener("keydown", (event) => this.#key(event));
    byId("stop").addEventListener("click", () => this.stopper?.abort());
    byId("new-chat").addEventListener("click", () => this.#clear());
    onLanguage(() => this.#welcome());
    this.#welcome();
    this.#busy(false);
  }

  #key(event) {
    // While Japanese is composed, Enter chooses a word; on a phone it begins a line.
    const plain = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (!plain || matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    this.#submit();
  }

  #submit() {
    const content = byId("prompt").value.trim();
    if (!content || this.stopper) return;
    byId("prompt").value = "";
    this.send(content);
  }

  send(content) {
    // A question that got no answer gives way to the next one.
    if (this.messages.at(-1)?.role === "user") this.messages.pop();
    for (const old of byId("log").querySelectorAll(".notice")) old.remove();
    this.messages.push({ role: "user", content });
    byId("welcome").hidden = true;
    byId("log").append(el("li", { className: "said" },
      el("span", { className: "hush" }, t("chat.you")), el("p", { className: "bubble" }, content)));
    this.#answer();
  }

  async #answer() {
    const { messages } = this;
    const answer = new Answer(this.settings.body([...messages]));
    const view = new TokenView();
    const waiting = el("p", { className: "waiting" }, t("chat.waiting"));
    const item = el("li", { className: "answer", "aria-busy": "true" },
      el("span", { className: "hush" }, t("chat.answer")), waiting, view.node);
    byId("log").append(item);
    this.#busy(true);
    scrollTo({ top: document.body.scrollHeight });
    this.stopper = new AbortController();
    let problem = null;
    try {
      await answer.stream(this.stopper.signal, () => {
        waiting.remove();
        const follow = innerHeight + scrollY > document.body.scrollHeight - NEAR;
        view.show(answer.tokens);
        this.panel.watch(answer);
        if (follow) scrollTo({ top: document.body.scrollHeight });
      });
    } catch (error) {
      if (error.name !== "AbortError" && !(error instanceof Problem)) throw error;
      problem = error;
    } finally {
      this.stopper = null;
      this.#busy(false);
      waiting.remove();
      item.removeAttribute("aria-busy");
    }
    if (answer.tokens.length) this.#foot(answer, item, problem);
    if (problem instanceof Problem) this.#fail(answer, item, problem);
    else if (answer.text) messages.push({ role: "assistant", content: answer.text });
    if (!problem && answer.rounds.length) this.answers.add(answer);
  }

  #fail(answer, item, problem) {
    const again = () => { item.remove(); this.#answer(); };
    const shown = answer.tokens.length && problem.key === "error.dropped"
      ? new Problem("error.dropped.after", { tokens: answer.tokens.length }) : problem;
    item.append(notice(shown, again));
    if (problem.key === "error.key") this.askKey(again);
  }

  #foot(answer, item, problem) {
    const told = answer.usage?.speculation;
    const parts = [
      problem?.name === "AbortError" ? t("chat.stopped") : null,
      t("foot.tokens", { tokens: answer.tokens.length }),
      answer.finish === "length" ? t("foot.cut") : null,
      answer.speed ? t("foot.speed", { speed: fixed(answer.speed, 1) }) : null,
      answer.alpha === null ? null
        : t("foot.alpha", { alpha: fixed(answer.alpha), pass: fixed(answer.tokensPerPass) }),
      told ? t("foot.gain", { gain: times(told.speedup), seed: told.seed }) : null,
    ];
    const foot = el("p", { className: "foot" }, parts.filter(Boolean).join(" · "));
    if (!problem && answer.rounds.length) {
      const link = el("a", { href: "#step" }, t("foot.step"));
      link.addEventListener("click", () => this.answers.show(answer));
      foot.append(" ", link);
    }
    item.append(foot);
    byId("spoken").textContent = foot.firstChild.textContent;
  }

  #busy(is) {
    byId("stop").hidden = !is;
    byId("send").hidden = is;
  }

  #clear() {
    this.stopper?.abort();
    this.messages = [];
    byId("log").replaceChildren();
    this.#welcome();
    byId("welcome").hidden = false;
    byId("prompt").focus();
  }

  #welcome() {
    byId("examples").replaceChildren(...EXAMPLES.map((key) => {
      const button = el("button", { type: "button", className: "example" }, t(key));
      button.addEventListener("click", () => this.send(t(key)));
      return el("li", {}, button);
    }));
  }
}
