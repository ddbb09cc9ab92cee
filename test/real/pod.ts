/** What a kubelet and the service account's tokens are to a pod. */
import { cpSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, ApiObject } from './api.ts';

export interface BoundToken {
  readonly token: string;
  /** As the audit log names it. */
  readonly credentialId: string;
  /** Makes the API server refuse it, as it does when its pod is gone. */
  revoke(): Promise<void>;
}

/** A token of the service account by TokenRequest, bound to a Secret of its own. */
export async function requestToken(api: Api, namespace: string, account: string, name: string): Promise<BoundToken> {
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const secret = await api.post(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name } });
  const answer = await api.post(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600, boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name, uid: secret.body.metadata.uid } },
  });
  if (answer.status !== 201) throw new Error(`token of ${account}: ${answer.status} ${answer.body.message}`);
  const token = String(answer.body.status?.['token']);
  const { jti } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string };
  return { token, credentialId: `JTI=${jti}`, revoke: async () => void (await api.delete(`${secrets}/${name}`)) };
}

/**
 * The folder of a projected volume, as the kubelet writes it: files are links through `..data`, which is replaced at once.
 *
 * @returns puts another token in
 */
export function writePodSecrets(dir: string, caFile: string, namespace: string, token: string): (token: string) => void {
  let version = 0;
  const put = (current: string): void => {
    version += 1;
    const files = join(dir, `..${version}`);
    mkdirSync(files, { recursive: true });
    writeFileSync(join(files, 'token'), `${current}\n`);
    writeFileSync(join(files, 'namespace'), namespace);
    cpSync(caFile, join(files, 'ca.crt'));
    symlinkSync(`..${version}`, join(dir, '..data_tmp'));
    renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
  };
  put(token);
  for (const name of ['token', 'namespace', 'ca.crt']) symlinkSync(join('..data', name), join(dir, name));
  return put;
}

/** Rules of a SelfSubjectRulesReview, each as `verb group/resource name`, sorted; the cluster says them of whoever asks. */
export async function rulesOfSelf(api: Api, namespace: string): Promise<string[]> {
  const answer = await api.post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace },
  });
  const { resourceRules, incomplete } = (answer.body as ApiObject & { status: unknown }).status as {
    readonly incomplete: boolean;
    readonly resourceRules: readonly { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }[];
  };
  if (incomplete) throw new Error('the rules are incomplete');
  const texts = resourceRules.flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`))),
    ),
  );
  return [...new Set(texts)].sort();
}
