/** Texts from Parameter Store and Secrets Manager. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { ConfigError } from '../../core/errors.ts';
import { parseReference, type ReadRemoteText } from '../remote-text.ts';
import { awsFault, CLIENT_LIMITS } from './calls.ts';
import { checkAwsEndpoint, checkAwsRegion } from './variables.ts';

/** Reads by reference, with clients that are kept: each has credentials of its own to fetch. */
export function openStores(): { readonly read: ReadRemoteText } {
  const parameters = byRegion((region) => new SSMClient({ ...region, ...CLIENT_LIMITS }));
  const secrets = byRegion((region) => new SecretsManagerClient({ ...region, ...CLIENT_LIMITS }));

  async function stored(store: 'ssm' | 'secretsmanager', id: string): Promise<string | undefined> {
    checkAwsEndpoint(store === 'ssm' ? 'SSM' : 'SECRETS_MANAGER');
    if (regionOf(id) === undefined) checkAwsRegion();
    if (store === 'ssm') {
      const { Parameter } = await parameters(id).send(new GetParameterCommand({ Name: id, WithDecryption: true }));
      return Parameter?.Value;
    }
    const { SecretString, SecretBinary } = await secrets(id).send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString ?? (SecretBinary && Buffer.from(SecretBinary).toString('utf8'));
  }

  return {
    async read(reference) {
      const parsed = parseReference(reference);
      if (parsed === undefined) throw new TypeError('not a reference to a store');
      const text = await stored(parsed.store, parsed.id).catch((error: unknown) => {
        throw awsFault(`${reference}: cannot be read`, error);
      });
      if (!text) throw new ConfigError('source-empty', `${reference}: holds no text`);
      return parsed.key === undefined ? text : valueUnder(text, parsed.key, reference);
    },
  };
}

/** A client for the region that an ARN names, else for the one of the environment; one each. */
function byRegion<Client>(create: (region: { readonly region?: string }) => Client): (id: string) => Client {
  const clients = new Map<string | undefined, Client>();
  return (id) => {
    const region = regionOf(id);
    const client = clients.get(region) ?? create(region === undefined ? {} : { region });
    clients.set(region, client);
    return client;
  };
}

function regionOf(id: string): string | undefined {
  return /^arn:[^:]+:[^:]+:([^:]+):/.exec(id)?.[1];
}

function valueUnder(text: string, key: string, reference: string): string {
  const fail = (what: string): never => {
    throw new ConfigError('source-invalid', `${reference}: ${what}`);
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return fail('is no JSON, so it has no keys; leave #KEY out'); // Not the parser's words: they quote the text.
  }
  const value = typeof json === 'object' && json !== null && Object.hasOwn(json, key) ? (json as Record<string, unknown>)[key] : undefined;
  return typeof value === 'string' ? value : fail(`has no text under the key ${key}`);
}
