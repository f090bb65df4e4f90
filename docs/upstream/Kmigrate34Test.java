package org.apache.kafka.metadata.migration;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

import org.junit.jupiter.api.Test;

import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A topic with a config is made and deleted within one delta, as when a controller loads its log. */
public class Kmigrate34Test {
    private static final Uuid TOPIC_ID = Uuid.fromString("ThIaNwRnSM2Nt9Mx1v0RvA");

    @Test
    public void testConfigsGoWithATopicThatIsDeletedInTheSameDelta() {
        MetadataDelta delta = new MetadataDelta(MetadataImage.EMPTY);
        delta.replay(new TopicRecord().setName("foo").setTopicId(TOPIC_ID));
        delta.replay(new ConfigRecord()
            .setResourceType(ConfigResource.Type.TOPIC.id())
            .setResourceName("foo")
            .setName("retention.ms")
            .setValue("1000"));
        delta.replay(new RemoveTopicRecord().setTopicId(TOPIC_ID));

        MetadataImage image = delta.apply(new MetadataProvenance(3, 1, 1));

        assertEquals(Set.of(), image.configs().resourceData().keySet());
    }
}
