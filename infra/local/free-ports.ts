import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Below the ephemeral ranges of Linux (32768 and up) and macOS (49152 and up): inside one, a client that keeps dialling a server
 * that is down can be given the server's own port as its source port, and then holds it (it connects to itself).
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/**
 * Distinct TCP ports on which nobody listened on 127.0.0.1 a moment ago. Another process may take one before you do: be ready to ask
 * again.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const held: { port: number; server: Server }[] = [];
  try {
    for (let attempt = 0; held.length < count; attempt++) {
      if (attempt > 200) throw new Error(`no ${count} free ports found between ${LOWEST} and ${HIGHEST}`);
      const port = randomInt(LOWEST, HIGHEST);
      const server = await listen(port);
      if (server !== undefined) held.push({ port, server });
    }
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  }
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1' }, () => resolve(server));
  });
}
