// What the browser may remember; some refuse to, and then it lasts as long as the page.

const kept = new Map();

function safely(store, use, fallback) {
  try { return use(window[store]); } catch { return fallback; }
}

export function recall(name, store = "localStorage") {
  return safely(store, (s) => s.getItem(`foredraft.${name}`), null) ?? kept.get(name) ?? null;
}

export function keep(name, value, store = "localStorage") {
  kept.set(name, value);
  safely(store, (s) => s.setItem(`foredraft.${name}`, value));
}
