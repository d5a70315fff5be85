/** Narrows a list of the mesh to a router and a service, by their names. */
import { useAnswer } from '../../api/queries.ts';
import { namedChoices, type PageFilter } from '../../parts/filters.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

/** Others are reached by an address that names them. */
const FIRST = { query: { size: 100, sort: 'name,asc' } } as const;

export function useMeshFilters(): readonly PageFilter[] {
  const text = useText(meshText);
  const routers = useAnswer('listRouters', FIRST).data?.body.content;
  const services = useAnswer('listFabricServices', FIRST).data?.body.content;
  return [
    { name: 'routerId', label: text.router, by: namedChoices(routers) },
    { name: 'serviceId', label: text.service, by: namedChoices(services) },
  ];
}
