// Provides the settings of each part of the service.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Config, SETTINGS } from './config.js';

@Global()
@Module({})
export class ConfigModule {
  static forRoot(config: Config): DynamicModule {
    const providers = (Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]).map((room) => ({
      provide: SETTINGS[room],
      useValue: config[room],
    }));
    return { module: ConfigModule, providers, exports: Object.values(SETTINGS) };
  }
}
