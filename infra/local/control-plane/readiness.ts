import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { cutText } from '../../../functions/core/errors.ts';

const REQUEST_TIMEOUT_MS = 2000;

/** Whether the etcd on this port has a leader and serves. */
export async function isEtcdReady(port: number): Promise<boolean> {
  const answer = await get(`http://127.0.0.1:${port}/health`);
  return answer?.status === 200 && answer.body.includes('"health":"true"');
}

/** Whether the API server is ready and the namespace `default` is there, which comes a moment after /readyz says ok. */
export async function isApiServerReady(server: { url: string; caFile: string; token: string }): Promise<boolean> {
  const ready = await get(`${server.url}/readyz`, server);
  if (ready?.status !== 200) return false;
  return (await get(`${server.url}/api/v1/namespaces/default`, server))?.status === 200;
}

/** Status and (cut) body, or undefined for anything that is no answer: not listening yet, no certificate yet, too slow. */
function get(url: string, server?: { caFile: string; token: string }): Promise<{ status: number; body: string } | undefined> {
  return new Promise((resolve) => {
    const nothing = () => resolve(undefined);
    const request = open(url, server);
    if (request === undefined) return nothing();
    request.on('error', nothing);
    request.setTimeout(REQUEST_TIMEOUT_MS, () => request.destroy());
    request.on('close', nothing); // after `resolve` it changes nothing
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body = cutText(body + chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', nothing);
    });
    request.end();
  });
}

function open(url: string, server?: { caFile: string; token: string }) {
  if (server === undefined) return httpRequest(url, { agent: false });
  try {
    const ca = readFileSync(server.caFile);
    return httpsRequest(url, { agent: false, ca, headers: { authorization: `Bearer ${server.token}` } });
  } catch {
    return undefined; // the API server writes its certificate when it starts; until then there is none, or half of one
  }
}
