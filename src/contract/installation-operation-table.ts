/** Operations that help to find out what is wrong: where the parts of the installation are, and whether a provider answers. */
import { installationSchema, providerCheckSchema } from './installation-schemas.ts';
import { guarded, ok } from './operation.ts';

export const installationOperations = [
  guarded({
    id: 'getInstallation',
    group: 'Installation',
    summary: 'Get where the parts of the installation are, and which of them are away',
    method: 'GET',
    path: '/installation',
    answer: ok(installationSchema),
  }),
  guarded({
    id: 'checkAuthProvider',
    group: 'Auth providers',
    summary: 'Check an auth provider: the callback addresses to register, and whether its issuer answers',
    method: 'POST',
    path: '/frontdoor/{frontdoorId}/auth-providers/{id}/check',
    uuidParameters: ['frontdoorId', 'id'],
    scope: 'frontdoor.read',
    answer: ok(providerCheckSchema),
    refusals: [404],
  }),
] as const;
