// Reads the declarations of the feature modules without starting the modules.
import 'reflect-metadata';
import { FeaturesModule } from '../../src/modules/features.module.js';
import { declaredBy, Projections, Publishers } from '../../src/platform/subscriptions/declarations.js';

const features = Reflect.getMetadata('imports', FeaturesModule) as readonly object[];

export const PROJECTIONS = features.flatMap((module) => declaredBy(module, Projections));
export const PUBLISHERS = features.flatMap((module) => declaredBy(module, Publishers));
