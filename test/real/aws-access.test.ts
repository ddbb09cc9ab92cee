/** What reads registries, kubeconfigs and ways into EKS, against another implementation of AWS's APIs than the stub of `npm test`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { CreateClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { openEks } from '../../functions/adapters/aws/eks.ts';
import { connectCluster, readClusters } from '../../functions/adapters/clusters.ts';
import { createServerReader } from '../../functions/adapters/server-reader.ts';
import { namespaces } from '../../functions/core/kinds.ts';
import { type ApiServer, startApiServer } from '../../infra/local/api-server/api-server.ts';
import { type Moto, startMoto } from '../../infra/local/moto.ts';

const ROLE = 'arn:aws:iam::123456789012:role/dogwatch';

let moto: Moto;
let server: ApiServer;
let dir = '';
let secretArn = '';
let region = '';
const kept = { ...process.env };

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-aws-access-'));
  [moto, server] = await Promise.all([startMoto(), startApiServer()]);
  Object.assign(process.env, moto.env);
  region = moto.env['AWS_REGION'] ?? '';
  const parameters = new SSMClient({});
  const secrets = new SecretsManagerClient({});
  const registry = (kubeconfigs: readonly string[]): string =>
    `clusters:\n${kubeconfigs.map((at, index) => `- { name: c${index}, kubeconfig: '${at}' }\n`).join('')}`;
  const put = (Name: string, Value: string) =>
    parameters.send(new PutParameterCommand({ Name, Value, Type: 'SecureString', Tier: 'Advanced' }));
  await put('/dogwatch/east', server.kubeconfig('main'));
  const { ARN = '' } = await secrets.send(new CreateSecretCommand({ Name: 'dogwatch/east', SecretString: server.kubeconfig('main') }));
  secretArn = ARN;
  await secrets.send(new CreateSecretCommand({ Name: 'many', SecretString: JSON.stringify({ east: server.kubeconfig('main') }) }));
  await secrets.send(new CreateSecretCommand({ Name: 'bytes', SecretBinary: Buffer.from(server.kubeconfig('main')) }));
  const everywhere = [
    'ssm:/dogwatch/east',
    'secretsmanager:dogwatch/east',
    `secretsmanager:${secretArn}`,
    'secretsmanager:many#east',
    'secretsmanager:bytes',
  ];
  await put('/dogwatch/clusters', registry(everywhere));
  await secrets.send(new CreateSecretCommand({ Name: 'clusters', SecretString: registry(['secretsmanager:dogwatch/east', 'ssm:/none']) }));
  await new EKSClient({}).send(
    new CreateClusterCommand({ name: 'production', roleArn: ROLE, resourcesVpcConfig: { subnetIds: ['subnet-1', 'subnet-2'] } }),
  );
});
after(async () => {
  process.env = kept;
  await moto?.stop();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const at = { name: 'default' };

/** Makes the call as the cluster would. moto tells services apart by the host, and looks for who signed in this header only. */
async function callMoto(search: string, host: string): Promise<string> {
  const authorization = `AWS4-HMAC-SHA256 Credential=${new URLSearchParams(search).get('X-Amz-Credential')}`;
  const request = get(`${moto.endpoint}/${search}`, { headers: { host, 'x-k8s-aws-id': 'production', authorization } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return text(response);
}

describe('AWS as moto has it', () => {
  it('has a registry in Parameter Store lead to kubeconfigs in every form', async () => {
    const entries = await readClusters('ssm:/dogwatch/clusters');
    assert.equal(entries.length, 5);
    const serverOf = createServerReader();
    for (const entry of entries) {
      const client = connectCluster(entry);
      const found = await client.get(namespaces, at);
      client.close();
      assert.deepEqual([found?.metadata.name, await serverOf(entry)], ['default', server.url], entry.where);
    }
  });

  it('has one bad kubeconfig of a registry in Secrets Manager stop nobody else', async () => {
    const [good, bad] = (await readClusters('secretsmanager:clusters')).map((entry) => connectCluster(entry));
    assert.equal((await good?.get(namespaces, at))?.metadata.name, 'default');
    await assert.rejects(
      async () => bad?.get(namespaces, at),
      (error: Error & { code: string; facts: { detail: string } }) => {
        assert.deepEqual([error.name, error.code], ['TransientError', 'unauthorized']);
        assert.match(error.facts.detail, /^ssm:\/none: cannot be read: ParameterNotFound: /);
        return true;
      },
    );
    good?.close();
    bad?.close();
  });

  it('says what is missing by the names that we have remedies for', async () => {
    await assert.rejects(readClusters('ssm:/nowhere'), {
      name: 'ConfigError',
      message: /ParameterNotFound: .*look at name, account and region$/,
    });
    await assert.rejects(readClusters('secretsmanager:nowhere'), {
      name: 'ConfigError',
      message: /ResourceNotFoundException: .*look at name/,
    });
  });

  it('knows who signed a token: our own credentials, or the role that was assumed with them', async () => {
    for (const [role, who] of [
      [undefined, /<Arn>arn:aws:sts::123456789012:user\/moto</],
      [ROLE, /<Arn>arn:aws:sts::123456789012:assumed-role\/dogwatch\/dogwatch-production</],
    ] as const) {
      const { issuer } = openEks({ kind: 'eks', cluster: 'production', region, role }, Date.now);
      const { token = '' } = await issuer.issue();
      const { host, search } = new URL(Buffer.from(token.replace('k8s-aws-v1.', ''), 'base64url').toString());
      assert.equal(host, `sts.${region}.amazonaws.com`, 'whatever endpoint the environment names');
      assert.match(await callMoto(search, host), who);
    }
  });

  it('describes a cluster of EKS', async () => {
    const { server: address, certificateAuthorityData } = await openEks(
      { kind: 'eks', cluster: 'production', region },
      Date.now,
    ).describe();
    assert.match(address, /^https:\/\//);
    assert.ok(certificateAuthorityData.length > 0);
    await assert.rejects(openEks({ kind: 'eks', cluster: 'none', region }, Date.now).describe(), { message: /ResourceNotFoundException/ });
  });

  it('is read by the registry of a file as well', async () => {
    const path = join(dir, 'clusters.yml');
    writeFileSync(path, `clusters: [{ name: east, kubeconfig: 'ssm:/dogwatch/east', context: nowhere }]\n`);
    const [entry] = await readClusters(path);
    assert.ok(entry);
    const client = connectCluster(entry);
    await assert.rejects(client.get(namespaces, at), (error: Error & { facts: { detail: string } }) => {
      assert.equal(error.facts.detail, 'ssm:/dogwatch/east: "nowhere" is not in contexts (there: main)');
      return true;
    });
    client.close();
  });
});
