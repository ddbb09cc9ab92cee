/**
 * Ways into EKS clusters: address and CA where the registry does not have them, and tokens. Credentials are those that every AWS
 * tool finds, or those of a role that is assumed with them.
 */
import { DescribeClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { SignatureV4 } from '@smithy/signature-v4';
import { ConfigError } from '../../core/errors.ts';
import type { CredentialIssuer, EksSource } from '../kubernetes/kube-config.ts';
import { awsFault, CLIENT_LIMITS } from './calls.ts';
import { signEksToken, TOKEN_LIFETIME_MS } from './eks-token.ts';
import { type AwsService, checkAwsEndpoint } from './variables.ts';

/** A token is replaced this long before it, or the credentials that signed it, expire. */
const EXPIRY_MARGIN_MS = 60_000;
/** Credentials of a role are replaced this long before they expire, as the SDK does with its own. */
const ROLE_MARGIN_MS = 5 * 60_000;
/** Credentials that a cluster refused are fetched anew, unless they are younger than this. */
const FRESH_MS = 60_000;
/** A clock that differs from AWS's by less is left alone: an answer's Date is whole seconds, and was on its way. */
const SKEW_MS = 30_000;

/** What AWS's own types call AwsCredentialIdentity, as far as it is needed here. */
interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

export interface EksEndpoint {
  readonly server: string;
  /** Base64 of PEM, as a kubeconfig has it. */
  readonly certificateAuthorityData: string;
}

export interface Eks {
  /** Asks EKS. @throws ConfigError that says what AWS said */
  describe(): Promise<EksEndpoint>;
  readonly issuer: CredentialIssuer;
}

/** Opens without a call. `nowMs` is the clock of this machine; how far AWS's is from it is learnt from answers. */
export function openEks({ cluster, region, role }: EksSource, nowMs: () => number): Eks {
  const sts = new STSClient({ region, useGlobalEndpoint: false, ...CLIENT_LIMITS });
  // The SDK corrects this one by itself, when STS says that a call was signed at another time than its own.
  const clock = sts.config as { systemClockOffset: number };
  const awsNowMs = (): number => nowMs() + clock.systemClockOffset;
  const where = `EKS cluster ${cluster} in ${region}`;
  let ofRole: { readonly credentials: AwsCredentials; readonly sinceMs: number } | undefined;
  let isRefused = false;

  async function assume(roleArn: string): Promise<AwsCredentials> {
    // Shown by CloudTrail, and by the cluster as part of the user's name.
    const name = `dogwatch-${cluster}`.slice(0, 64);
    const command = new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: name });
    const { Credentials: found } = await called('STS', () => sts.send(command)).catch((error) => {
      throw awsFault(`${where}: the role ${roleArn} cannot be assumed`, error, { role: roleArn });
    });
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = found ?? {};
    if (AccessKeyId === undefined || SecretAccessKey === undefined)
      throw new ConfigError('aws-refused', `${where}: STS gave no credentials of ${roleArn}`);
    return {
      ...{ accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey },
      ...(SessionToken === undefined ? {} : { sessionToken: SessionToken }),
      ...(Expiration === undefined ? {} : { expiration: Expiration }),
    };
  }

  async function credentials(): Promise<AwsCredentials> {
    const forceRefresh = isRefused;
    isRefused = false;
    if (role === undefined) {
      return sts.config.credentials(forceRefresh ? { forceRefresh } : {}).catch((error: unknown) => {
        throw awsFault(`${where}: no AWS credentials can be had`, error);
      });
    }
    const isUsable =
      ofRole !== undefined &&
      (ofRole.credentials.expiration?.getTime() ?? Number.POSITIVE_INFINITY) > awsNowMs() + ROLE_MARGIN_MS &&
      !(forceRefresh && Math.abs(nowMs() - ofRole.sinceMs) >= FRESH_MS);
    if (!isUsable || ofRole === undefined) ofRole = { credentials: await assume(role), sinceMs: nowMs() };
    return ofRole.credentials;
  }

  return {
    async describe() {
      const client = new EKSClient({ region, credentials, ...CLIENT_LIMITS });
      try {
        const { cluster: found } = await called('EKS', () => client.send(new DescribeClusterCommand({ name: cluster })));
        const { endpoint, certificateAuthority, status } = found ?? {};
        if (endpoint !== undefined && certificateAuthority?.data !== undefined)
          return { server: endpoint, certificateAuthorityData: certificateAuthority.data };
        throw new ConfigError('eks-no-endpoint', `${where}: has no endpoint yet (status ${status ?? 'unknown'}); wait until it is ACTIVE`);
      } catch (error) {
        const isTold = error instanceof ConfigError && error.code !== 'aws-variable';
        throw isTold ? error : awsFault(`${where}: cannot be described`, error);
      } finally {
        client.destroy();
      }
    },
    issuer: {
      floorMs: 1_000,
      async issue() {
        const { expiration, ...identity } = await credentials();
        const signedMs = awsNowMs();
        const signer = new SignatureV4({ service: 'sts', region, sha256: sts.config.sha256, credentials: identity });
        const token = await signEksToken(signer, { hostname: hostOf(sts, region), cluster, signedAt: new Date(signedMs) });
        const lifetimeMs = Math.min(TOKEN_LIFETIME_MS, (expiration?.getTime() ?? Number.POSITIVE_INFINITY) - signedMs);
        return { token, renewAtMs: nowMs() + lifetimeMs - EXPIRY_MARGIN_MS };
      },
      refused(serverMs) {
        isRefused = true;
        if (serverMs !== undefined && Math.abs(serverMs - awsNowMs()) >= SKEW_MS) clock.systemClockOffset = serverMs - nowMs();
      },
    },
  };
}

async function called<Answer>(service: AwsService, call: () => Promise<Answer>): Promise<Answer> {
  checkAwsEndpoint(service);
  return call();
}

/** Where STS is in the region, whatever endpoint of our own the environment names: it is the cluster that calls. */
function hostOf(sts: STSClient, region: string): string {
  return sts.config.endpointProvider({ Region: region, UseFIPS: false, UseDualStack: false, UseGlobalEndpoint: false }).url.hostname;
}
