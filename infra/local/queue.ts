import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequestHandler } from 'local-aws-sqs';
import { ACCOUNT_ID, AWS_REGION, createQueues, type LocalQueues, type QueueSpec, type ReceiveQuirks } from './local-queues.ts';

export interface LocalQueueOptions {
  readonly queues: readonly QueueSpec[];
  /** Default: a free one. */
  readonly port?: number;
}

/**
 * Starts local-aws-sqs in this process, on loopback, with the queues. It needs no Java and starts in milliseconds, and it has
 * faults; those in receiving are hidden by `createReceiver` with the quirks named here.
 *
 * @throws the error of listen (EADDRINUSE) when `port` is taken
 */
export async function startLocalQueues(options: LocalQueueOptions): Promise<LocalQueues> {
  const server = createServer();
  const port = await listen(server, options.port ?? 0);
  const { requestHandler, service } = createRequestHandler({
    port,
    hostname: '127.0.0.1',
    region: AWS_REGION,
    accountId: ACCOUNT_ID,
    // Else a queue of one name cannot be made again for 60 s.
    emulateQueueCreationLifecycle: false,
  });
  server.on('request', (request, response) => {
    response.setHeader('server', 'local-aws-sqs' satisfies ReceiveQuirks); // for those who only have our URL
    requestHandler(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  const stop = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
    service.resetAll();
  };
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    const queueUrl = await createQueues(endpoint, options.queues);
    return { endpoint, quirks: 'local-aws-sqs', queueUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
