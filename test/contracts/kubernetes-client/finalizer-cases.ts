/** What a client does about finalizers: adds by apply, takes off by uid and version. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectAddress } from '../../../events/resource.ts';
import { FINALIZER_MANAGER } from '../../../functions/adapters/kubernetes/port.ts';
import { ownFieldsOf } from '../../../functions/core/own-fields.ts';
import type { KubernetesObject } from '../../../functions/core/reconciler.ts';
import { type Bench, fresh, thing } from './bench.ts';
import { things } from './kinds.ts';

/** @param bench of the suite that this is a part of, once it has begun */
export function describeFinalizers(bench: () => Bench): void {
  describe('finalizers', () => {
    async function read(at: ObjectAddress): Promise<KubernetesObject> {
      const object = await bench().client.get(things, at);
      assert.ok(object !== undefined);
      return object;
    }

    it('holds a deletion back for a finalizer, and removes it by uid and version', async () => {
      const at = fresh();
      await bench().create(things, at, { metadata: { finalizers: ['contract.example/hold'] } });
      const { uid } = (await read(at)).metadata;
      assert.equal(await bench().client.delete(things, at, uid), 'deleted');
      const { deletionTimestamp, generation, resourceVersion } = (await read(at)).metadata;
      assert.ok(deletionTimestamp);
      assert.equal(generation, 2);
      const old = String(BigInt(resourceVersion) - 1n);
      await assert.rejects(bench().client.patchFinalizers(things, at, { uid, resourceVersion: old }, []), {
        name: 'ConflictError',
        code: 'resource-version-conflict',
      });
      assert.ok(await bench().client.patchFinalizers(things, at, { uid, resourceVersion }, []));
      assert.equal(await bench().client.get(things, at), undefined);
      assert.equal(await bench().client.patchFinalizers(things, at, { uid, resourceVersion }, []), undefined);
    });

    it('adds a finalizer beside the fields that it owns already, and takes none of either out', async () => {
      const at = fresh();
      const { uid, resourceVersion } = await bench().client.apply(things, thing(at, { spec: { size: 1 } }));
      const own = async () => ownFieldsOf((await read(at)).metadata.managedFields);
      const owned = await own();
      const finalizers = ['contract.example/hold'];
      const body = thing(at, {}, { uid, resourceVersion, finalizers });
      const added = await bench().client.apply(things, body, { fieldManager: FINALIZER_MANAGER });
      assert.deepEqual([added.uid, added.generation, added.finalizers], [uid, 1, finalizers]);
      assert.deepEqual([(await read(at))['spec'], await own()], [{ size: 1 }, owned]);
      await bench().client.apply(things, thing(at, { spec: { size: 2 } }));
      assert.deepEqual((await read(at)).metadata.finalizers, finalizers);
    });

    it('answers a write without managedFields', async () => {
      const at = fresh();
      const applied = await bench().client.apply(things, thing(at, { spec: { size: 1 } }));
      const { uid, resourceVersion } = applied;
      const shown = await bench().client.applyStatus(things, thing(at, { status: { phase: 'Done' } }, { resourceVersion }));
      const guard = { uid, resourceVersion: shown?.resourceVersion ?? '' };
      const patched = await bench().client.patchFinalizers(things, at, guard, ['contract.example/hold']);
      assert.deepEqual(
        [applied, shown, patched].map((metadata) => metadata !== undefined && !('managedFields' in metadata)),
        [true, true, true],
      );
    });

    it('takes no new finalizer for an object that is being deleted', async () => {
      const at = fresh();
      await bench().create(things, at, { metadata: { finalizers: ['contract.example/hold'] } });
      await bench().delete(things, at);
      const { uid, resourceVersion } = (await read(at)).metadata;
      const body = thing(at, {}, { uid, resourceVersion, finalizers: ['contract.example/late'] });
      await assert.rejects(bench().client.apply(things, body, { fieldManager: FINALIZER_MANAGER }), {
        name: 'TerminalError',
        code: 'invalid',
      });
      assert.deepEqual((await read(at)).metadata.finalizers, ['contract.example/hold']);
    });

    it('takes the finalizers of no other object', async () => {
      const at = fresh();
      await bench().create(things, at);
      const { resourceVersion } = (await read(at)).metadata;
      const uid = '00000000-0000-4000-8000-00000000dead';
      await assert.rejects(bench().client.patchFinalizers(things, at, { uid, resourceVersion }, ['contract.example/hold']), {
        name: 'ConflictError',
        code: 'uid-conflict',
      });
    });
  });
}
