/** Asks a cluster, with one small list, where it is and whether it still has the history that the cell knows. */
import type { ResourceType } from '../../events/resource.ts';
import { type History, historyOf, laterWitness, type Witness } from '../../events/witness.ts';
import type { KubernetesClient, ListPage } from '../adapters/kubernetes/port.ts';
import type { CellObserver, DataFrame } from './observer-port.ts';

type Selection = Pick<CellObserver, 'labelSelector' | 'fieldSelector'>;

export interface ProbeAnswer {
  readonly resourceVersion: string;
  readonly history: History;
}

export class HistoryProbe {
  readonly #client: KubernetesClient;
  readonly #type: ResourceType;
  #witness: Witness | undefined;

  constructor(client: KubernetesClient, type: ResourceType) {
    this.#client = client;
    this.#type = type;
  }

  /** A list begins: what was seen before it counts no more. */
  beginList(): void {
    this.#witness = undefined;
  }

  page({ rows }: ListPage): void {
    for (const { metadata } of rows) this.#witness = laterWitness(this.#witness, metadata, false);
  }

  frame(frame: DataFrame): void {
    if (frame.type !== 'BOOKMARK') this.#witness = laterWitness(this.#witness, frame.row.metadata, frame.type === 'DELETED');
  }

  /**
   * Errors of the client pass through.
   *
   * @param selection of the cell: an object that left it counts as gone. The label selector is not asked for without a witness,
   *                  when the server would look for a match among all objects; the field selector always, since the rights of
   *                  the watcher may be for one name
   */
  async ask({ labelSelector, fieldSelector }: Selection, signal: AbortSignal): Promise<ProbeAnswer> {
    const witness = this.#witness;
    const options = { form: 'metadata', fieldSelector, limit: 1, signal } as const;
    if (witness === undefined) {
      const { resourceVersion } = await this.#client.list(this.#type, options);
      return { resourceVersion, history: 'same' };
    }
    const { resourceVersion, rows } = await this.#client.list(this.#type, { ...options, at: addressOf(witness), labelSelector });
    const history = historyOf(witness, rows[0]?.metadata, labelSelector !== undefined || fieldSelector !== undefined);
    // A frame that came meanwhile may have been the deletion.
    return { resourceVersion, history: history === 'unsure' && this.#witness !== witness ? 'same' : history };
  }
}

function addressOf({ namespace, name }: Witness) {
  return namespace === undefined ? { name } : { namespace, name };
}
