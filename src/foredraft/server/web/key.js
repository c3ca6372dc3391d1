// The API key, asked for when the server wants one and kept for this tab alone.

import { byId, onSubmit } from "./dom.js";
import { keep } from "./memory.js";

/** A function that asks for the key and calls `then` once it was given. */
export function keyDialog() {
  const dialog = byId("key");
  let after = () => {};
  onSubmit("key-form", () => {
    keep("key", byId("key-value").value.trim(), "sessionStorage");
    dialog.close();
    after();
  });
  byId("key-cancel").addEventListener("click", () => dialog.close());
  return (then) => {
    after = then;
    if (!dialog.open) dialog.showModal();
  };
}
