/** Markdown of models and people as safe HTML. Loaded when first needed. Remote images are dropped:
 * they are beacons. Links open elsewhere and send no referrer. */
export async function loadMarkdown(): Promise<(text: string) => string> {
  const [{ Marked }, { default: purify }] = await Promise.all([import('marked'), import('dompurify')]);
  const marked = new Marked({ gfm: true, breaks: false, async: false });
  const clean = purify(window);
  clean.addHook('afterSanitizeAttributes', (node) => {
    if (node instanceof HTMLAnchorElement) {
      node.target = '_blank';
      node.rel = 'noopener noreferrer nofollow';
    }
  });
  const options = {
    FORBID_TAGS: ['img', 'picture', 'audio', 'video', 'source', 'track', 'style', 'form', 'input', 'button', 'svg', 'math', 'iframe'],
    FORBID_ATTR: ['style', 'class', 'id', 'name', 'srcset', 'src'],
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#)/i,
  };
  return (text) => clean.sanitize(marked.parse(text) as string, options);
}
