import type { TimedPrice } from "./price_line.ts";

/** A path that is level from each point to the time of the next one. */
export function stepPath(
  points: TimedPrice[],
  x: (time: number) => number,
  y: (price: number) => number,
): string {
  return points
    .map(({ time, price }, index) => {
      const [left, top] = [x(time).toFixed(1), y(price).toFixed(1)];
      return index === 0 ? `M${left} ${top}` : `H${left}V${top}`;
    })
    .join("");
}

interface Room {
  least: number;
  most: number;
  distance: number;
}

/** Moves labels from where they belong as little as keeps them apart, in their order. */
export function apart(places: number[], { least, most, distance }: Room): number[] {
  const order = places.map((_, index) => index);
  order.sort((one, other) => (places[one] ?? 0) - (places[other] ?? 0));
  const moved = [...places];
  let from = least;
  for (const index of order) {
    moved[index] = Math.max(places[index] ?? 0, from);
    from = (moved[index] ?? 0) + distance;
  }
  let to = most;
  for (const index of order.reverse()) {
    moved[index] = Math.min(moved[index] ?? 0, to);
    to = (moved[index] ?? 0) - distance;
  }
  return moved;
}
