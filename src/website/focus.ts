/** What may have the focus in the place of an element that went away. */
const PLACES = "dialog, section, form, main";

/**
 * Keeps the focus on the page. When the element that has it goes away or is disabled, as with a
 * row whose button was pressed, the nearest part of the page around it gets the focus, and Tab goes
 * on from there.
 */
export function keepFocus(root: HTMLElement): void {
  let focused: Element | undefined;
  let around: HTMLElement[] = [];
  root.addEventListener("focusin", ({ target }) => {
    focused = target instanceof Element ? target : undefined;
    around = placesAround(focused);
  });
  // Who clicks beside everything gives up the focus.
  document.addEventListener("pointerdown", () => {
    focused = undefined;
  });
  new MutationObserver(() => {
    if (focused === undefined || (focused.isConnected && !focused.matches(":disabled"))) return;
    const { activeElement } = document;
    if (activeElement !== null && ![document.body, focused].includes(activeElement)) return;
    const place = around.find((element) => element.isConnected);
    if (place === undefined) return;
    if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true, attributeFilter: ["disabled"] });
}

/** From the inside out. */
function placesAround(element: Element | undefined): HTMLElement[] {
  const places: HTMLElement[] = [];
  let place = element?.parentElement?.closest<HTMLElement>(PLACES);
  while (place) {
    places.push(place);
    place = place.parentElement?.closest<HTMLElement>(PLACES);
  }
  return places;
}
