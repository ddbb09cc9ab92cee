/** The reconciler that README.md has its readers write first. */
import * as z from 'zod';
import { configMaps } from '../../../../functions/core/kinds.ts';
import { defineReconciler, type ReconcilerDeclaration } from '../../../../functions/core/reconciler.ts';
import { defineResource } from '../../../../functions/core/resource-definition.ts';

interface Spec {
  readonly text: string;
}
interface Status {
  readonly configMap: string;
}

const greetings = defineResource<Spec, Status>({
  group: 'platform.example',
  version: 'v1',
  kind: 'Greeting',
  plural: 'greetings',
  scope: 'Namespaced',
  spec: z.object({ text: z.string().min(1) }),
  status: z.object({ configMap: z.string() }),
});

/** The reconciler of Greetings, with what a test has otherwise. */
export function greetingWith(over: Partial<ReconcilerDeclaration<Spec, Status>> = {}) {
  return defineReconciler({
    resource: greetings,
    owns: [configMaps],
    async reconcile({ object }) {
      const { name, namespace = '' } = object.metadata;
      return {
        apply: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { text: object.spec.text } }],
        status: { configMap: name },
      };
    },
    ...over,
  });
}

/** A Greeting as a user writes it. */
export function greetingObject(text: string, name = 'hello') {
  return { apiVersion: 'platform.example/v1', kind: 'Greeting', metadata: { name }, spec: { text } };
}
