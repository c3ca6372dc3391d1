// The speed-up surface: γ to the right, α upwards, painted on a canvas.

import { bestGamma, speedup } from "./speedup.js";
import { palette } from "./theme.js";

export const MOST = 16;
const ROWS = 50;
const EDGE = { left: 38, right: 10, top: 10, bottom: 34 };
const STRONGEST = Math.log2(3);

const css = (channels) => `rgb(${channels.join(" ")})`;

/** A speed-up's colour: neutral at 1, one way above, another below; as strong as its logarithm. */
function shade(gain, { even, less, more }) {
  const strength = Math.max(-1, Math.min(1, Math.log2(gain) / STRONGEST));
  const end = strength < 0 ? less : more;
  return css(even.map((from, i) => Math.round(from + Math.abs(strength) * (end[i] - from))));
}

/** Paints `canvas`, and tells which α and γ a place on it stands for. */
export class Surface {
  constructor(canvas) {
    this.canvas = canvas;
  }

  #x = (gamma) => EDGE.left + (this.width - EDGE.left - EDGE.right) * ((gamma + 0.5) / (MOST + 1));
  #y = (alpha) => this.height - EDGE.bottom - (this.height - EDGE.top - EDGE.bottom) * alpha;

  at(x, y) {
    const [wide, high] = [this.#x(1) - this.#x(0), this.#y(0) - this.#y(1)];
    const gamma = Math.floor((x - EDGE.left) / wide);
    const alpha = (this.#y(0) - y) / high;
    const held = (value, most) => Math.max(0, Math.min(most, value));
    return { alpha: held(Math.round(100 * alpha) / 100, 1), gamma: held(gamma, MOST) };
  }

  /** `point` is what the sliders say; `machine` what was measured here, or null. */
  paint({ cost, curve, point, machine }) {
    const { canvas } = this;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    canvas.width = this.width * devicePixelRatio;
    canvas.height = this.height * devicePixelRatio;
    const pen = canvas.getContext("2d");
    this.ink = palette("even", "less", "more", "text", "muted", "card", "machine");
    pen.scale(devicePixelRatio, devicePixelRatio);
    this.#cells(pen, cost, curve);
    this.#axes(pen);
    this.#best(pen, cost, curve);
    this.#mark(pen, point, css(this.ink.text), false);
    if (machine) this.#mark(pen, machine, css(this.ink.machine), true);
  }

  #cells(pen, cost, curve) {
    const wide = this.#x(1) - this.#x(0);
    const high = (this.#y(0) - this.#y(1)) / ROWS;
    for (let gamma = 0; gamma <= MOST; gamma += 1) {
      for (let row = 0; row < ROWS; row += 1) {
        pen.fillStyle = shade(speedup((row + 0.5) / ROWS, cost, gamma, curve), this.ink);
        pen.fillRect(this.#x(gamma) - wide / 2, this.#y((row + 1) / ROWS), wide + 0.5, high + 0.5);
      }
    }
  }

  #axes(pen) {
    pen.fillStyle = css(this.ink.muted);
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "center";
    for (let gamma = 0; gamma <= MOST; gamma += 4) {
      const text = gamma === MOST ? `γ ${gamma}` : String(gamma);
      pen.fillText(text, this.#x(gamma), this.#y(0) + 18);
    }
    pen.textAlign = "right";
    for (const alpha of [0, 0.25, 0.5, 0.75, 1]) {
      pen.fillText(alpha === 1 ? "α 1" : String(alpha), EDGE.left - 6, this.#y(alpha) + 4);
    }
  }

  /** The best γ of each α, where one gains. */
  #best(pen, cost, curve) {
    pen.fillStyle = css(this.ink.text);
    for (let row = 0; row < ROWS; row += 1) {
      const alpha = (row + 0.5) / ROWS;
      const { gamma } = bestGamma(alpha, cost, curve, MOST);
      if (gamma > 0) pen.fillRect(this.#x(gamma) - 2, this.#y(alpha) - 2, 4, 4);
    }
  }

  #mark(pen, { alpha, gamma }, ink, diamond) {
    const [x, y] = [this.#x(gamma), this.#y(alpha)];
    const size = diamond ? 9 : 8;
    pen.beginPath();
    if (diamond) {
      const corners = [[0, -size], [size, 0], [0, size], [-size, 0]];
      for (const [dx, dy] of corners) pen.lineTo(x + dx, y + dy);
    } else {
      pen.arc(x, y, size, 0, 2 * Math.PI);
    }
    pen.closePath();
    pen.lineWidth = 5;
    pen.strokeStyle = css(this.ink.card);
    pen.stroke();
    pen.lineWidth = 2.5;
    pen.strokeStyle = ink;
    pen.stroke();
    if (!diamond) return;
    pen.fillStyle = ink;
    pen.fill();
  }
}
