/** The layers of a persona's prompt: the page's signature. Each has a colour and, for readers who
 * cannot tell colours apart, a mark. CSS: `data-layer="own"` sets `--layer` and `--layer-wash`. */
export type Layer = 'base' | 'own' | 'stage' | 'override';

export const LAYERS: Record<Layer, { mark: string; label: string; about: string }> = {
  base: { mark: '◇', label: 'base', about: 'from a persona that this one extends' },
  own: { mark: '●', label: 'own', about: "this persona's own" },
  stage: { mark: '▲', label: 'stage', about: 'of the current stage of its arc' },
  override: { mark: '✦', label: 'override', about: 'put in its place for one call' },
};

export function layerOf(name: string): Layer {
  return name in LAYERS ? (name as Layer) : 'own';
}
