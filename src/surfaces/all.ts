// All API surfaces of the service. A new surface needs a file next to this one and its name in the list.
import { Surfaces } from '../platform/http/surface.js';
import { dashboard } from './dashboard.js';
import { direct } from './direct.js';
import { open } from './open.js';
import { platform } from './platform.js';
import { server } from './server.js';

export const SURFACES = new Surfaces([platform, server, direct, dashboard, open]);
