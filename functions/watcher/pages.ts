/** Pages of a list, no larger than can be read. */
import type { ResourceType } from '../../events/resource.ts';
import type { KubernetesClient, ListPage } from '../adapters/kubernetes/port.ts';
import { TransientError } from '../core/errors.ts';
import type { CellObserver } from './observer-port.ts';

/** Objects a page of a list: the chunk size of kubectl and of client-go's pager. */
const PAGE_SIZE = 500;

export class Pages {
  readonly #client: KubernetesClient;
  readonly #type: ResourceType;
  readonly #onSmaller: (size: number) => void;
  #size = PAGE_SIZE;

  /** @param onSmaller told of every smaller size that pages have from then on */
  constructor(client: KubernetesClient, type: ResourceType, onSmaller: (size: number) => void) {
    this.#client = client;
    this.#type = type;
    this.#onSmaller = onSmaller;
  }

  /**
   * The page that `token` stands for. Where it is too large to be read, half as many objects are asked for, at once (the token
   * goes with any size), down to one; later pages have the size that was found. Errors of the client pass through.
   */
  async read(observer: CellObserver, token: string | undefined, signal: AbortSignal): Promise<ListPage> {
    const { form, labelSelector, fieldSelector, ownFields } = observer;
    const asked = { form, labelSelector, fieldSelector, ownFields, continue: token, signal };
    for (;;) {
      try {
        return await this.#client.list(this.#type, { ...asked, limit: this.#size });
      } catch (error) {
        const isTooLarge = error instanceof TransientError && error.code === 'response-too-large';
        if (!isTooLarge || this.#size === 1 || signal.aborted) throw error;
        this.#size = Math.floor(this.#size / 2);
        this.#onSmaller(this.#size);
      }
    }
  }
}
