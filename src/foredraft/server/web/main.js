// Puts the page together: one view at a time, named by the address.

import { Answers } from "./answers.js";
import { Chat } from "./chat.js";
import { byId } from "./dom.js";
import { Feed } from "./feed.js";
import { language, onLanguage, setLanguage, t, translate } from "./i18n.js";
import { keyDialog } from "./key.js";
import { notice } from "./notice.js";
import { Panel } from "./panel.js";
import { Race } from "./race.js";
import { Settings } from "./settings.js";
import { Steps } from "./step.js";
import { themeButton } from "./theme.js";
import { Toy } from "./toyview.js";
import { Why } from "./why.js";

const VIEWS = ["chat", "race", "step", "why"];

translate();
const feed = new Feed();
const answers = new Answers();
const askKey = keyDialog();
const settings = new Settings(feed);
const panel = new Panel(feed);
const parts = { feed, answers, askKey, settings, panel };
new Chat(parts);
new Race(parts);
const steps = new Steps(parts);
new Toy();
const why = new Why(parts);

function show(focus) {
  const asked = location.hash.slice(1);
  const view = VIEWS.includes(asked) ? asked : "chat";
  for (const name of VIEWS) {
    byId(name).hidden = name !== view;
    byId(`to-${name}`).toggleAttribute("aria-current", false);
  }
  byId(`to-${view}`).setAttribute("aria-current", "page");
  document.body.dataset.view = view;
  document.title = `${t(`nav.${view}`)} · foredraft`;
  if (view === "why") why.draw();
  if (view === "step") steps.seen();
  if (!focus) return;
  scrollTo({ top: 0 });
  byId(view).querySelector("h1").focus({ preventScroll: true });
}

addEventListener("hashchange", () => show(true));
onLanguage(() => show(false));
onLanguage(themeButton(byId("theme")));
byId("language").addEventListener("click", () => setLanguage(language() === "en" ? "ja" : "en"));

feed.onChange(({ problem }) => {
  const place = byId("trouble");
  if (!problem) place.replaceChildren();
  else if (!place.hasChildNodes()) place.append(notice(problem, () => feed.ask()));
  if (problem?.key === "error.key" && feed.asked !== true) askKey(() => feed.ask());
  feed.asked = problem?.key === "error.key";
});
feed.ask();
show(false);
