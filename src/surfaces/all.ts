// Every API surface of the service. A new one is a file beside this and a name in the list.
import { Surfaces } from '../platform/http/surface.js';
import { dashboard } from './dashboard.js';
import { direct } from './direct.js';
import { open } from './open.js';
import { platform } from './platform.js';
import { server } from './server.js';

export const SURFACES = new Surfaces([platform, server, direct, dashboard, open]);
