/** The settings begin with the frontdoors, which everybody may see. */
import { Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export function SettingsHome(): ReactNode {
  return <Navigate to="/settings/frontdoors" replace />;
}
