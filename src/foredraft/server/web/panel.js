// The live panel: how the answer at hand speculates, and what the controller does and why.

import { byId, table } from "./dom.js";
import { legend } from "./drafters.js";
import { fixed, ms, times } from "./format.js";
import { onLanguage, said, t } from "./i18n.js";
import { strip } from "./strip.js";

const named = (drafter, drafted) =>
  drafted ? t("panel.drafts", { drafter, drafted }) : t("panel.plain");

export class Panel {
  constructor(feed) {
    this.feed = feed;
    this.answer = null;
    const wide = matchMedia("(min-width: 64rem)");
    const unfold = () => { byId("live-more").open = wide.matches; };
    wide.addEventListener("change", unfold);
    unfold();
    feed.onChange(() => this.draw());
    onLanguage(() => this.draw());
    this.draw();
  }

  /** Show this answer from now on; call again whenever it has grown. */
  watch(answer) {
    this.answer = answer;
    this.draw();
  }

  draw() {
    const { value } = this.feed;
    const recent = value?.recent;
    const told = this.answer?.rounds.length ? this.answer : null;
    const step = value?.plain_step_s ?? null;
    const figures = told ? {
      alpha: told.alpha, pass: told.tokensPerPass, speed: told.speed, gain: told.speedup(step),
    } : {
      alpha: recent?.acceptance_rate, pass: recent?.tokens_per_target_pass,
      speed: recent?.tokens_per_s, gain: recent?.speedup,
    };
    byId("live-alpha").textContent = fixed(figures.alpha);
    byId("live-pass").textContent = fixed(figures.pass);
    byId("live-speed").textContent = fixed(figures.speed, 1);
    byId("live-gain").textContent = times(figures.gain);
    byId("live-of").textContent = t(told ? "panel.of.answer" : "panel.of.recent");
    byId("live-strip").replaceChildren(strip(told?.rounds ?? []));
    byId("live-strip").hidden = !told;
    const drafters = new Set([...(value?.drafters ?? []), ...(told?.drafters ?? [])]);
    byId("live-legend").replaceChildren(legend([...drafters]));
    this.#doing(told?.rounds.at(-1) ?? value?.last);
    byId("live-server").textContent = value ? t("panel.server", {
      running: value.running, waiting: value.waiting, engine: value.engine, step: ms(step),
    }) : "";
    byId("model").textContent = value?.model ?? "";
  }

  #doing(round) {
    const count = round ? round.drafted?.length ?? round.drafted ?? 0 : 0;
    byId("live-doing").textContent = round
      ? t("panel.doing", { what: named(round.drafter, count), why: said(round.why ?? "fixed") })
      : t("panel.idle");
    const options = round?.options ?? [];
    byId("live-options").hidden = options.length === 0;
    if (options.length === 0) return;
    const heads = ["option", "tokens", "ms", "rate"].map((name) => t(`panel.${name}`));
    const chosen = count ? round.drafter : "none";
    const rows = options.map((option) => ({
      cells: [
        optionName(option), fixed(option.tokens), ms(option.seconds),
        fixed(option.tokens / option.seconds, 1),
      ],
      best: option.drafter === chosen && option.drafted === count,
    }));
    byId("live-table").replaceChildren(table(t("panel.caption"), heads, rows));
  }
}

function optionName({ drafter, drafted }) {
  const refused = drafter !== "none" && !drafted;
  return refused ? t("panel.unworthy", { drafter }) : named(drafter, drafted);
}
