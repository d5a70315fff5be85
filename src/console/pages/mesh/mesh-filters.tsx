/** Narrows a list of the mesh to a router and a service, by their names. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { ChoiceFilter, choicesOf, Filters } from '../../parts/filters.tsx';
import type { SearchControl } from '../../parts/search-state.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

/** Others are reached by an address that names them. */
const FIRST = { query: { size: 100, sort: 'name,asc' } } as const;

export function MeshFilters({ control }: { readonly control: SearchControl }): ReactNode {
  const text = useText(meshText);
  const routers = useAnswer('listRouters', FIRST).data?.body.content ?? [];
  const services = useAnswer('listFabricServices', FIRST).data?.body.content ?? [];
  return (
    <Filters control={control}>
      <ChoiceFilter
        control={control}
        name="routerId"
        label={text.router}
        choices={choicesOf(routers, control.textOf('routerId'))}
      />
      <ChoiceFilter
        control={control}
        name="serviceId"
        label={text.service}
        choices={choicesOf(services, control.textOf('serviceId'))}
      />
    </Filters>
  );
}
