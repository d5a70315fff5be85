/** Asks the health endpoint of a program (`--metrics-listen`). */
import { formatHostPort, FrontdoorError, isJsonObject, type HostPort } from '#base';
import { printable } from '#base/terminal';
import { JsonClient } from '#net/http';

/** Longer than the checks of a program may take. */
const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 65_536;

/** Throws `unavailable` or `timeout` if nothing responds, or if another program does. */
export async function askHealth(
  { host, port }: HostPort,
  what: 'live' | 'ready',
  ignored: readonly string[],
): Promise<{ readonly isGood: boolean; readonly text: string }> {
  const origin = `http://${formatHostPort(host, port)}`;
  const client = new JsonClient({ origin, timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES });
  const query = new URLSearchParams(ignored.map((name) => ['ignore', name]));
  try {
    const path = `/health/${what}${query.size === 0 ? '' : `?${query.toString()}`}`;
    const { status, text, json } = await client.request({ method: 'GET', path });
    if (!isJsonObject(json) || typeof json['status'] !== 'string')
      throw new FrontdoorError(
        'unavailable',
        'health-foreign',
        `${origin} answered ${status} without the health of a Frontdoor program: give the address of its --metrics-listen`,
      );
    return { isGood: status === 200, text: `${printable(text.trim())}\n` };
  } finally {
    await client.close();
  }
}
