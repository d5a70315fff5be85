/** Diagnostic operations: the addresses and state of the installation's parts, and the check of an auth provider. */
import {
  installationSchema,
  providerCheckSchema,
  providerDraftCheckSchema,
  providerReservationSchema,
} from './schemas/installation-schemas.ts';
import { guarded, ok } from './operation.ts';
import { providerDraftSchema } from './schemas/provider-schemas.ts';

export const installationOperations = [
  guarded({
    id: 'getInstallation',
    group: 'Installation',
    summary: "Get the addresses and state of the installation's parts",
    method: 'GET',
    path: '/installation',
    answer: ok(installationSchema),
  }),
  guarded({
    id: 'checkAuthProvider',
    group: 'Auth providers',
    summary: 'Check an auth provider: the callback addresses to register, and whether its issuer responds',
    method: 'POST',
    path: '/frontdoor/{frontdoorId}/auth-providers/{id}/check',
    uuidParameters: ['frontdoorId', 'id'],
    scope: 'frontdoor.read',
    answer: ok(providerCheckSchema),
    refusals: [404],
  }),
  guarded({
    id: 'checkAuthProviderDraft',
    group: 'Auth providers',
    summary: 'Check the data of an auth provider before it is stored: whether its issuer responds',
    method: 'POST',
    path: '/frontdoor/{frontdoorId}/auth-provider-check',
    body: providerDraftSchema,
    answer: ok(providerDraftCheckSchema),
  }),
  guarded({
    id: 'reserveAuthProvider',
    group: 'Auth providers',
    summary: 'Reserve the ID of an auth provider, to register its callback addresses before it is created',
    method: 'POST',
    path: '/frontdoor/{frontdoorId}/auth-provider-reservation',
    scope: 'frontdoor.read',
    answer: ok(providerReservationSchema),
  }),
] as const;
