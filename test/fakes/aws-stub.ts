/**
 * AWS as far as the ways into clusters need it, on one port: STS (AssumeRole), EKS (DescribeCluster), Parameter Store and Secrets
 * Manager, with a clock of its own. It knows who signed a call by the access key, and does not check signatures.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that came in. */
export interface AwsCall {
  /** `AssumeRole`, `DescribeCluster`, `GetParameter`, `GetSecretValue`. */
  readonly action: string;
  readonly accessKeyId: string;
  readonly signedAt: Date;
  readonly input: Readonly<Record<string, unknown>>;
}

type Refusal = { readonly status: number; readonly code: string; readonly message: string };

export class AwsStub {
  readonly calls: AwsCall[] = [];
  /** What its clock shows. */
  nowMs = Date.now;
  readonly parameters = new Map<string, string>();
  readonly secrets = new Map<string, string | Uint8Array>();
  readonly clusters = new Map<string, { readonly endpoint: string; readonly certificateAuthority: string } | 'CREATING'>();
  /** Roles that may be assumed, with how long their credentials last, in seconds. */
  readonly roles = new Map<string, number>();
  /** By action: what is answered in place of anything else. */
  readonly refusals = new Map<string, Refusal>();
  /** Secret keys by access key, of those who may sign. */
  readonly secretKeys = new Map([['OWN', 'own-secret']]);
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<AwsStub> {
    const stub = new AwsStub();
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The environment of a process that uses it. */
  get environment(): Readonly<Record<string, string>> {
    return { AWS_ENDPOINT_URL: this.url, AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'OWN', AWS_SECRET_ACCESS_KEY: 'own-secret' };
  }

  count(action: string): number {
    return this.calls.filter((call) => call.action === action).length;
  }

  /** Forgets what it was told and asked. */
  reset(): void {
    for (const known of [this.parameters, this.secrets, this.clusters, this.roles, this.refusals]) known.clear();
    this.calls.length = 0;
    this.nowMs = Date.now;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const call = callOf(request, Buffer.concat(chunks).toString());
    this.calls.push(call);
    response.sendDate = false;
    response.setHeader('date', new Date(this.nowMs()).toUTCString());
    const isXml = call.action === 'AssumeRole';
    const refusal = this.refusals.get(call.action) ?? this.#skew(call) ?? this.#missing(call);
    if (refusal !== undefined) return refuse(response, refusal, isXml);
    response.writeHead(200, { 'content-type': isXml ? 'text/xml' : 'application/x-amz-json-1.1' });
    response.end(this.#body(call));
  }

  /** STS takes what was signed up to 15 minutes ago. */
  #skew({ signedAt }: AwsCall): Refusal | undefined {
    if (Math.abs(this.nowMs() - signedAt.getTime()) < 15 * 60_000) return undefined;
    return { status: 403, code: 'SignatureDoesNotMatch', message: 'Signature expired: the call was signed at another time' };
  }

  #missing({ action, input }: AwsCall): Refusal | undefined {
    const missing = (code: string): Refusal => ({ status: 400, code, message: 'there is none of this name' });
    switch (action) {
      case 'GetParameter':
        return this.parameters.has(String(input['Name'])) ? undefined : missing('ParameterNotFound');
      case 'GetSecretValue':
        return this.secrets.has(String(input['SecretId'])) ? undefined : missing('ResourceNotFoundException');
      case 'DescribeCluster':
        return this.clusters.has(String(input['name'])) ? undefined : { ...missing('ResourceNotFoundException'), status: 404 };
      case 'AssumeRole': {
        const role = String(input['RoleArn']);
        if (this.roles.has(role)) return undefined;
        return { status: 403, code: 'AccessDenied', message: `User is not authorized to perform: sts:AssumeRole on resource: ${role}` };
      }
      default:
        return { status: 400, code: 'InvalidAction', message: action };
    }
  }

  #body({ action, input }: AwsCall): string {
    switch (action) {
      case 'GetParameter': {
        const name = String(input['Name']);
        return JSON.stringify({ Parameter: { Name: name, Type: 'SecureString', Value: this.parameters.get(name) } });
      }
      case 'GetSecretValue': {
        const value = this.secrets.get(String(input['SecretId'])) ?? '';
        return JSON.stringify(
          typeof value === 'string' ? { SecretString: value } : { SecretBinary: Buffer.from(value).toString('base64') },
        );
      }
      case 'DescribeCluster': {
        const found = this.clusters.get(String(input['name']));
        if (found === 'CREATING' || found === undefined) return JSON.stringify({ cluster: { status: 'CREATING' } });
        const { endpoint, certificateAuthority } = found;
        return JSON.stringify({ cluster: { endpoint, certificateAuthority: { data: certificateAuthority }, status: 'ACTIVE' } });
      }
      default:
        return this.#session(input);
    }
  }

  #session(input: AwsCall['input']): string {
    const seconds = this.roles.get(String(input['RoleArn'])) ?? 0;
    const expiration = new Date(this.nowMs() + seconds * 1000).toISOString();
    this.secretKeys.set(`ROLE${this.count('AssumeRole')}`, 'role-secret');
    return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
      <AccessKeyId>ROLE${this.count('AssumeRole')}</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey>
      <SessionToken>role-session</SessionToken><Expiration>${expiration}</Expiration>
      </Credentials></AssumeRoleResult></AssumeRoleResponse>`;
  }
}

function callOf(request: IncomingMessage, body: string): AwsCall {
  const { authorization = '', 'x-amz-date': date = '', 'x-amz-target': target } = request.headers;
  const [, accessKeyId = ''] = /Credential=([^/]+)\//.exec(authorization) ?? [];
  const signedAt = dateOf(String(date));
  if (target !== undefined) {
    const action = String(target).split('.').at(-1) ?? '';
    return { action, accessKeyId, signedAt, input: JSON.parse(body) as Record<string, unknown> };
  }
  const [, cluster] = /^\/clusters\/([^/?]+)/.exec(request.url ?? '') ?? [];
  if (cluster !== undefined) return { action: 'DescribeCluster', accessKeyId, signedAt, input: { name: cluster } };
  const { Action: action = '', ...input } = Object.fromEntries(new URLSearchParams(body));
  return { action, accessKeyId, signedAt, input };
}

/** The moment of a `20260101T000000Z`. */
export function dateOf(compact: string): Date {
  return new Date(compact.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function refuse(response: ServerResponse, { status, code, message }: Refusal, isXml: boolean): void {
  if (isXml) {
    const body = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
    response.writeHead(status, { 'content-type': 'text/xml' }).end(body);
    return;
  }
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-errortype': code });
  response.end(JSON.stringify({ __type: code, message }));
}
