// What went wrong, in one sentence, with a button that tries again.

import { el } from "./dom.js";
import { t } from "./i18n.js";

export function notice(problem, retry) {
  const button = el("button", { type: "button", className: "small" }, t("retry"));
  const node = el("div", { className: "notice", role: "alert" },
    el("p", {}, t(problem.key, problem.values)), button);
  button.addEventListener("click", () => { node.remove(); retry(); });
  return node;
}
