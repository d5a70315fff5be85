/** Where public shares appear. */
import { listFrontends } from '../store/mod.ts';
import { ok, type ApiParts, type Handlers } from './call.ts';

type FrontendParts = Pick<ApiParts, 'store' | 'frontendUrls'>;

export const frontendHandlers: Handlers<FrontendParts, 'listFrontends'> = {
  async listFrontends(parts) {
    const frontends = await listFrontends(parts.store.db);
    return ok(
      frontends.map(({ id, zone, publicName }) => ({
        id,
        urlTemplate: urlTemplate(parts, zone),
        publicName,
      })),
    );
  },
};

/** The URL under which gateways really serve a share of the zone; the encrypted one where there are several. */
function urlTemplate({ frontendUrls }: Pick<ApiParts, 'frontendUrls'>, zone: string): string {
  const host = `{token}.${zone}`;
  const urls = frontendUrls(host);
  return urls.find((url) => url.startsWith('https:')) ?? urls[0] ?? `https://${host}`;
}
