// Each role's targets with every label that Prometheus gives them.
#include "scrape/discovery/kubernetes_targets.h"

#include <gmock/gmock.h>

#include "tests/scrape/discovery_sink.h"

namespace vagt::scrape::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// `list` as the API answers it: the items alone.
void add(Cluster& cluster, Resource resource, const std::string& items) {
  auto list =
      parse_list(resource, R"({"metadata":{"resourceVersion":"1"},"items":[)" + items + "]}");
  ASSERT_TRUE(list.ok()) << list.error().message();
  for (const ObjectPtr& object : list->objects) cluster[resource][object->key()] = object;
}

std::vector<std::string> addresses(const TargetGroups& groups) {
  std::vector<std::string> out;
  for (const auto& group : groups) {
    for (const auto& target : group.targets) out.push_back(target.at("__address__"));
  }
  return out;
}

// Names without "__meta_kubernetes_", empty values left out: as relabelling sees them.
TextMap seen(const TargetGroups& groups, const std::string& address) {
  TextMap out;
  for (const auto& [name, value] : test::labels_at(groups, address)) {
    constexpr std::string_view kPrefix = "__meta_kubernetes_";
    if (!value.empty()) out[name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name] = value;
  }
  return out;
}

const std::string kPod = R"({
 "metadata":{"name":"web-1","namespace":"ml","uid":"u1","labels":{"app.kubernetes.io/name":"web"},
  "annotations":{"prometheus.io/scrape":"true"},
  "ownerReferences":[{"kind":"Node","name":"x"},{"kind":"ReplicaSet","name":"web-7f","controller":true}]},
 "spec":{"nodeName":"n1","containers":[
   {"name":"web","image":"web:1","ports":[{"name":"http","containerPort":80,"protocol":"TCP"},
                                          {"containerPort":9100,"protocol":"UDP"}]},
   {"name":"plain","image":"plain:1"}],
  "initContainers":[{"name":"mesh","image":"mesh:1","ports":[{"name":"m","containerPort":15090,"protocol":"TCP"}]}]},
 "status":{"podIP":"10.1.0.1","hostIP":"192.168.0.1","phase":"Running",
  "conditions":[{"type":"Initialized","status":"True"},{"type":"Ready","status":"False"}],
  "containerStatuses":[{"name":"web","containerID":"containerd://abc"}],
  "initContainerStatuses":[{"name":"mesh","containerID":"containerd://def"}]}})";

TextMap pod_labels() {
  return {{"namespace", "ml"},
          {"pod_name", "web-1"},
          {"pod_ip", "10.1.0.1"},
          {"pod_host_ip", "192.168.0.1"},
          {"pod_phase", "Running"},
          {"pod_ready", "false"},
          {"pod_node_name", "n1"},
          {"pod_uid", "u1"},
          {"pod_controller_kind", "ReplicaSet"},
          {"pod_controller_name", "web-7f"},
          {"pod_label_app_kubernetes_io_name", "web"},
          {"pod_labelpresent_app_kubernetes_io_name", "true"},
          {"pod_annotation_prometheus_io_scrape", "true"},
          {"pod_annotationpresent_prometheus_io_scrape", "true"}};
}
TextMap with(TextMap labels, const TextMap& more) {
  for (const auto& [name, value] : more) labels[name] = value;
  return labels;
}

TEST(KubernetesTargets, Pods) {
  Cluster cluster;
  add(cluster, Resource::Pods,
      kPod +
          R"(,{"metadata":{"name":"starting","namespace":"ml"},"spec":{"containers":[{"name":"c"}]}})");
  const KubernetesDiscoveryConfig config;
  const auto groups = targets_of(config, cluster);
  EXPECT_THAT(addresses(groups),
              ElementsAre("10.1.0.1:80", "10.1.0.1:9100", "10.1.0.1", "10.1.0.1:15090"));
  EXPECT_EQ(groups[0].source, "pod/ml/web-1");
  EXPECT_EQ(seen(groups, "10.1.0.1:80"),
            with(pod_labels(), {{"__address__", "10.1.0.1:80"},
                                {"pod_container_name", "web"},
                                {"pod_container_id", "containerd://abc"},
                                {"pod_container_image", "web:1"},
                                {"pod_container_init", "false"},
                                {"pod_container_port_name", "http"},
                                {"pod_container_port_number", "80"},
                                {"pod_container_port_protocol", "TCP"}}));
  EXPECT_EQ(seen(groups, "10.1.0.1"), with(pod_labels(), {{"__address__", "10.1.0.1"},
                                                          {"pod_container_name", "plain"},
                                                          {"pod_container_image", "plain:1"},
                                                          {"pod_container_init", "false"}}));
  EXPECT_EQ(seen(groups, "10.1.0.1:15090").at("pod_container_init"), "true");
  EXPECT_EQ(seen(groups, "10.1.0.1:15090").at("pod_container_id"), "containerd://def");
}

TEST(KubernetesTargets, PodsWithWhatMadeThemAndWhereTheyRun) {
  Cluster cluster;
  add(cluster, Resource::Pods, kPod);
  add(cluster, Resource::Pods,
      R"({"metadata":{"name":"j","namespace":"ml","ownerReferences":[{"kind":"Job","name":"nightly-1","controller":true}]},
          "spec":{"containers":[{"name":"c"}]},"status":{"podIP":"10.1.0.2"}})");
  add(cluster, Resource::Nodes,
      R"({"metadata":{"name":"n1","labels":{"gpu":"h200"},"annotations":{"x/y":"z"}}})");
  add(cluster, Resource::Namespaces,
      R"({"metadata":{"name":"ml","labels":{"team":"a"},"annotations":{"owner":"b"}}})");
  add(cluster, Resource::ReplicaSets,
      R"({"metadata":{"name":"web-7f","namespace":"ml","ownerReferences":[{"kind":"Deployment","name":"web","controller":true}]}})");
  add(cluster, Resource::Jobs,
      R"({"metadata":{"name":"nightly-1","namespace":"ml","ownerReferences":[{"kind":"CronJob","name":"nightly","controller":true}]}})");
  KubernetesDiscoveryConfig config;
  EXPECT_FALSE(seen(targets_of(config, cluster), "10.1.0.1:80").contains("node_name"));
  config.attach_node = config.attach_namespace = config.attach_deployment = true;
  config.attach_job = config.attach_cronjob = true;
  const auto groups = targets_of(config, cluster);
  const TextMap web = seen(groups, "10.1.0.1:80"), job = seen(groups, "10.1.0.2");
  EXPECT_EQ(web.at("node_name"), "n1");
  EXPECT_EQ(web.at("node_label_gpu"), "h200");
  EXPECT_EQ(web.at("node_labelpresent_gpu"), "true");
  EXPECT_EQ(web.at("node_annotation_x_y"), "z");
  EXPECT_EQ(web.at("namespace_label_team"), "a");
  EXPECT_EQ(web.at("namespace_labelpresent_team"), "true");
  EXPECT_EQ(web.at("namespace_annotation_owner"), "b");
  EXPECT_EQ(web.at("namespace_annotationpresent_owner"), "true");
  EXPECT_EQ(web.at("pod_deployment_name"), "web");
  EXPECT_EQ(job.at("pod_job_name"), "nightly-1");
  EXPECT_EQ(job.at("pod_cronjob_name"), "nightly");
}

TEST(KubernetesTargets, Services) {
  Cluster cluster;
  add(cluster, Resource::Services, R"(
   {"metadata":{"name":"web","namespace":"ml","labels":{"a":"b"},"annotations":{"c":"d"}},
    "spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1","loadBalancerIP":"1.2.3.4",
            "ports":[{"name":"http","port":80,"protocol":"TCP"},{"port":443,"protocol":"TCP"}]}},
   {"metadata":{"name":"out","namespace":"ml"},
    "spec":{"type":"ExternalName","externalName":"out.example","clusterIP":"",
            "ports":[{"port":25,"protocol":"TCP"}]}})");
  KubernetesDiscoveryConfig config;
  config.role = KubernetesRole::Service;
  const auto groups = targets_of(config, cluster);
  EXPECT_THAT(addresses(groups),
              UnorderedElementsAre("web.ml.svc:80", "web.ml.svc:443", "out.ml.svc:25"));
  EXPECT_EQ(seen(groups, "web.ml.svc:80"), (TextMap{{"__address__", "web.ml.svc:80"},
                                                    {"namespace", "ml"},
                                                    {"service_name", "web"},
                                                    {"service_label_a", "b"},
                                                    {"service_labelpresent_a", "true"},
                                                    {"service_annotation_c", "d"},
                                                    {"service_annotationpresent_c", "true"},
                                                    {"service_port_name", "http"},
                                                    {"service_port_number", "80"},
                                                    {"service_port_protocol", "TCP"},
                                                    {"service_type", "LoadBalancer"},
                                                    {"service_cluster_ip", "10.0.0.1"},
                                                    {"service_loadbalancer_ip", "1.2.3.4"}}));
  EXPECT_EQ(seen(groups, "out.ml.svc:25").at("service_external_name"), "out.example");
  EXPECT_FALSE(seen(groups, "out.ml.svc:25").contains("service_cluster_ip"));
}

TEST(KubernetesTargets, Endpoints) {
  Cluster cluster;
  add(cluster, Resource::Pods, kPod);
  add(cluster, Resource::Services,
      R"({"metadata":{"name":"web","namespace":"ml","labels":{"a":"b"}}})");
  add(cluster, Resource::Nodes, R"({"metadata":{"name":"n2","labels":{"gpu":"h200"}}})");
  add(cluster, Resource::Endpoints,
      R"({"metadata":{"name":"web","namespace":"ml","labels":{"e":"f"}},
   "subsets":[{"ports":[{"name":"http","port":80,"protocol":"TCP"}],
     "addresses":[{"ip":"10.1.0.1","nodeName":"n1","targetRef":{"kind":"Pod","namespace":"ml","name":"web-1"}}],
     "notReadyAddresses":[{"ip":"10.1.0.7","hostname":"h7","nodeName":"n2"}]}]})");
  KubernetesDiscoveryConfig config;
  config.role = KubernetesRole::Endpoints;
  config.attach_node = true;
  const auto groups = targets_of(config, cluster);
  EXPECT_THAT(addresses(groups), UnorderedElementsAre("10.1.0.1:80", "10.1.0.7:80", "10.1.0.1:9100",
                                                      "10.1.0.1:15090"));
  const TextMap common = {{"namespace", "ml"},
                          {"endpoints_name", "web"},
                          {"endpoints_label_e", "f"},
                          {"endpoints_labelpresent_e", "true"},
                          {"service_name", "web"},
                          {"service_label_a", "b"},
                          {"service_labelpresent_a", "true"}};
  EXPECT_EQ(seen(groups, "10.1.0.7:80"), with(common, {{"__address__", "10.1.0.7:80"},
                                                       {"endpoint_port_name", "http"},
                                                       {"endpoint_port_protocol", "TCP"},
                                                       {"endpoint_ready", "false"},
                                                       {"endpoint_hostname", "h7"},
                                                       {"endpoint_node_name", "n2"},
                                                       {"node_name", "n2"},
                                                       {"node_label_gpu", "h200"},
                                                       {"node_labelpresent_gpu", "true"}}));
  EXPECT_EQ(seen(groups, "10.1.0.1:80"),
            with(with(common, pod_labels()), {{"__address__", "10.1.0.1:80"},
                                              {"endpoint_port_name", "http"},
                                              {"endpoint_port_protocol", "TCP"},
                                              {"endpoint_ready", "true"},
                                              {"endpoint_node_name", "n1"},
                                              {"endpoint_address_target_kind", "Pod"},
                                              {"endpoint_address_target_name", "web-1"},
                                              {"pod_container_name", "web"},
                                              {"pod_container_image", "web:1"},
                                              {"pod_container_init", "false"},
                                              {"pod_container_port_name", "http"},
                                              {"pod_container_port_number", "80"},
                                              {"pod_container_port_protocol", "TCP"}}));
  // The pod's other ports, its side car's included.
  EXPECT_EQ(seen(groups, "10.1.0.1:15090"),
            with(with(common, pod_labels()), {{"__address__", "10.1.0.1:15090"},
                                              {"pod_container_name", "mesh"},
                                              {"pod_container_image", "mesh:1"},
                                              {"pod_container_init", "true"},
                                              {"pod_container_port_name", "m"},
                                              {"pod_container_port_number", "15090"},
                                              {"pod_container_port_protocol", "TCP"}}));
}

TEST(KubernetesTargets, EndpointSlices) {
  Cluster cluster;
  add(cluster, Resource::Pods, kPod);
  add(cluster, Resource::Services,
      R"({"metadata":{"name":"web","namespace":"ml","labels":{"a":"b"}}})");
  add(cluster, Resource::EndpointSlices, R"({"metadata":{"name":"web-x","namespace":"ml",
     "labels":{"kubernetes.io/service-name":"web"}},"addressType":"IPv6",
   "ports":[{"name":"http","port":80,"protocol":"TCP","appProtocol":"h2c"}],
   "endpoints":[{"addresses":["fd00::1"],"conditions":{"ready":true,"serving":false,"terminating":true},
      "hostname":"h1","nodeName":"n1","zone":"z1","targetRef":{"kind":"Node","name":"n1"},
      "deprecatedTopology":{"kubernetes.io/hostname":"n1"}},
     {"addresses":["10.1.0.1"],"targetRef":{"kind":"Pod","namespace":"ml","name":"web-1"}}]})");
  KubernetesDiscoveryConfig config;
  config.role = KubernetesRole::EndpointSlice;
  const auto groups = targets_of(config, cluster);
  EXPECT_THAT(addresses(groups), UnorderedElementsAre("[fd00::1]:80", "10.1.0.1:80",
                                                      "10.1.0.1:9100", "10.1.0.1:15090"));
  EXPECT_EQ(seen(groups, "[fd00::1]:80"),
            (TextMap{{"__address__", "[fd00::1]:80"},
                     {"namespace", "ml"},
                     {"service_name", "web"},
                     {"service_label_a", "b"},
                     {"service_labelpresent_a", "true"},
                     {"endpointslice_name", "web-x"},
                     {"endpointslice_label_kubernetes_io_service_name", "web"},
                     {"endpointslice_labelpresent_kubernetes_io_service_name", "true"},
                     {"endpointslice_address_type", "IPv6"},
                     {"endpointslice_port", "80"},
                     {"endpointslice_port_name", "http"},
                     {"endpointslice_port_protocol", "TCP"},
                     {"endpointslice_port_app_protocol", "h2c"},
                     {"endpointslice_endpoint_conditions_ready", "true"},
                     {"endpointslice_endpoint_conditions_serving", "false"},
                     {"endpointslice_endpoint_conditions_terminating", "true"},
                     {"endpointslice_endpoint_hostname", "h1"},
                     {"endpointslice_endpoint_node_name", "n1"},
                     {"endpointslice_endpoint_zone", "z1"},
                     {"endpointslice_address_target_kind", "Node"},
                     {"endpointslice_address_target_name", "n1"},
                     {"endpointslice_endpoint_topology_kubernetes_io_hostname", "n1"},
                     {"endpointslice_endpoint_topology_present_kubernetes_io_hostname", "true"}}));
  EXPECT_EQ(seen(groups, "10.1.0.1:80").at("pod_container_port_name"), "http");
}

TEST(KubernetesTargets, Ingresses) {
  Cluster cluster;
  add(cluster, Resource::Ingresses, R"({"metadata":{"name":"web","namespace":"ml"},
   "spec":{"ingressClassName":"nginx","tls":[{"hosts":["*.example.com","exact.org"]}],
    "rules":[{"host":"a.example.com","http":{"paths":[{"path":"/x"},{"path":""}]}},
             {"host":"a.b.example.com"},{"host":"exact.org","http":{"paths":[{"path":"/"}]}}]}})");
  KubernetesDiscoveryConfig config;
  config.role = KubernetesRole::Ingress;
  const auto groups = targets_of(config, cluster);
  ASSERT_THAT(groups, SizeIs(1));
  std::vector<std::string> urls;
  for (const auto& target : groups[0].targets) {
    urls.push_back(target.at("__meta_kubernetes_ingress_scheme") + "://" +
                   target.at("__meta_kubernetes_ingress_host") +
                   target.at("__meta_kubernetes_ingress_path"));
  }
  EXPECT_THAT(urls, ElementsAre("https://a.example.com/x", "https://a.example.com/",
                                "http://a.b.example.com/", "https://exact.org/"));
  EXPECT_EQ(groups[0].labels, (TextMap{{"__meta_kubernetes_namespace", "ml"},
                                       {"__meta_kubernetes_ingress_name", "web"},
                                       {"__meta_kubernetes_ingress_class_name", "nginx"}}));
}

TEST(KubernetesTargets, Nodes) {
  Cluster cluster;
  add(cluster, Resource::Nodes, R"(
   {"metadata":{"name":"n1","labels":{"gpu":"h200"},"annotations":{"a":"b"}},"spec":{"providerID":"aws:///i-1"},
    "status":{"addresses":[{"type":"Hostname","address":"n1.local"},{"type":"InternalIP","address":"10.0.0.1"},
                           {"type":"InternalIP","address":"fd00::1"}],
              "daemonEndpoints":{"kubeletEndpoint":{"Port":10250}}}},
   {"metadata":{"name":"bare"},"status":{"addresses":[]}})");
  KubernetesDiscoveryConfig config;
  config.role = KubernetesRole::Node;
  const auto groups = targets_of(config, cluster);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(seen(groups, "10.0.0.1:10250"), (TextMap{{"__address__", "10.0.0.1:10250"},
                                                     {"instance", "n1"},
                                                     {"node_name", "n1"},
                                                     {"node_provider_id", "aws:///i-1"},
                                                     {"node_label_gpu", "h200"},
                                                     {"node_labelpresent_gpu", "true"},
                                                     {"node_annotation_a", "b"},
                                                     {"node_annotationpresent_a", "true"},
                                                     {"node_address_InternalIP", "10.0.0.1"},
                                                     {"node_address_Hostname", "n1.local"}}));
}

TEST(KubernetesObjects, WhatIsNoListIsRefused) {
  for (const char* text :
       {"", "{}", "[]", R"({"kind":"Status"})", R"({"metadata":{},"items":"x"})"})
    EXPECT_FALSE(parse_list(Resource::Pods, text).ok()) << text;
  // Members of the wrong kind are as good as absent.
  const auto list = parse_list(
      Resource::Pods,
      R"({"metadata":{"resourceVersion":"1"},"items":[7,{"metadata":{"name":"p","labels":[1]},
          "spec":{"containers":{"a":1}},"status":{"podIP":5}}]})");
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(list->objects, SizeIs(1));
}

}  // namespace
}  // namespace vagt::scrape::kubernetes
