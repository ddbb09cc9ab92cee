/**
 * The program that says what kinds the reconcilers define. It is bundled and run as a process of its own for each version of the
 * code: this is where it shows that a module throws when it is loaded, and a process that has loaded one cannot load it anew.
 */

/** What the program tells its parent. */
export type Definitions =
  | { readonly kind: 'defined'; readonly crds: readonly Readonly<Record<string, unknown>>[] }
  | { readonly kind: 'failed'; readonly message: string; readonly stack: string };

async function definitions(): Promise<Definitions> {
  try {
    const { customResourceDefinition } = await import('../../../functions/core/custom-resource-definition.ts');
    const { reconcilers } = await import('../../../functions/reconcilers/index.ts');
    const crds = reconcilers.flatMap(({ resource }) => (resource.isDescribed ? [] : { ...customResourceDefinition(resource) }));
    return { kind: 'defined', crds };
  } catch (error) {
    if (!(error instanceof Error)) return { kind: 'failed', message: String(error), stack: '' };
    return { kind: 'failed', message: error.message, stack: error.stack ?? '' };
  }
}

// Not top-level await: the bundle is CommonJS. Left by exit, whatever the module that was loaded has begun.
void definitions().then((told) => process.send?.(told, () => process.exit(0)));
