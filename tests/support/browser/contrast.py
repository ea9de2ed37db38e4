"""The contrast of the text that a page shows with what is behind it (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

from playwright.sync_api import Page

LEAST = 4.5

_MEASURE = """
least => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  function read(colour) { // any CSS colour, as red, green, blue and opacity
    if (!known.has(colour)) known.set(colour, paint(colour));
    return known.get(colour);
  }
  function paint(colour) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  }
  const over = (top, below) =>
    [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  function luminance(colour) {
    const [r, g, b] = colour.slice(0, 3).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function behind(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement)
      layers.push(read(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  }
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    const box = element.getBoundingClientRect();
    if (!text || box.width <= 1 || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("script, style, noscript, .only-read, .skip, :disabled")) continue;
    let opacity = 1;
    for (let at = element; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
    const ground = behind(element);
    const [red, green, blue, alpha] = read(getComputedStyle(element).color);
    const colour = [red, green, blue, alpha * opacity];
    const [one, other] = [luminance(over(colour, ground)), luminance(ground)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const place = `${element.tagName.toLowerCase()}.${element.className}`;
    if (ratio < least) faint.push(`${place} “${text.slice(0, 30)}”: ${ratio.toFixed(2)}`);
  }
  return faint;
}
"""


def too_faint(page: Page, least: float = LEAST) -> list[str]:
    """Return the texts of a page, each with its element and ratio, whose contrast is below."""
    found: list[str] = page.evaluate(_MEASURE, least)
    return found
