// Numbers as people read them; an unknown one is a dash.

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

export const fixed = (value, digits = 2) => (known(value) ? value.toFixed(digits) : "–");
export const times = (value) => (known(value) ? `${value.toFixed(2)}×` : "–");
export const ms = (seconds) =>
  (known(seconds) ? fixed(1000 * seconds, seconds < 0.01 ? 1 : 0) : "–");
export const percent = (value) => (known(value) ? `${(100 * value).toFixed(1)} %` : "–");

/** A token's text with its spaces and line ends made visible. */
export const visible = (text) =>
  text === "" ? "·" : text.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replace(/^ | $/g, "␣");
